// RUN: sparse-opt %s --sparse-autograd-fuse --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum of each row and of its squares are one pass, although a value that
// depends on the first stands between them.
// CHECK-LABEL: func.func @moments
// CHECK: %[[S:.*]]:2 = linalg.generic
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: tensor.expand_shape %[[S]]#0
// CHECK-NOT: linalg.generic
func.func @moments(%x: tensor<8x16xf32>) -> (tensor<8x1xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.addf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %k = tensor.expand_shape %s [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %q = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.mulf %v, %v : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %k, %q : tensor<8x1xf32>, tensor<8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A reduction that depends on another cannot run with it.
// CHECK-LABEL: func.func @dependent
// CHECK: %[[S:.*]] = linalg.generic
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %[[S]] :
// CHECK: return
func.func @dependent(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.addf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %s : tensor<8x16xf32>, tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%v: f32, %m: f32, %acc: f32):
    %0 = arith.subf %v, %m : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// An operation with an effect that depends on the first stays before what
// follows it.
// CHECK-LABEL: func.func @effect
// CHECK: linalg.generic
// CHECK: cf.assert
// CHECK: linalg.generic
func.func @effect(%x: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.addf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %first = tensor.extract %s[%c0] : tensor<8xf32>
  %positive = arith.cmpf ogt, %first, %zero : f32
  cf.assert %positive, "not positive"
  %q = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.maximumf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %s, %q : tensor<8xf32>, tensor<8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Two counts of the same elements are one.
// A count that starts from another value is another.
// CHECK-LABEL: func.func @counts
// CHECK: %[[S:.*]]:2 = linalg.generic
// CHECK-COUNT-2: arith.addi
// CHECK-NOT: arith.addi
// CHECK: linalg.yield %{{.*}}, %{{.*}} : i64, i64
// CHECK: return %[[S]]#0, %[[S]]#0, %[[S]]#1
func.func @counts(%m: tensor<8x16xi1>, %start: tensor<8xi64>) -> (tensor<8xi64>, tensor<8xi64>, tensor<8xi64>) {
  %zero = arith.constant 0 : i64
  %r = tensor.empty() : tensor<8xi64>
  %init = linalg.fill ins(%zero : i64) outs(%r : tensor<8xi64>) -> tensor<8xi64>
  %a = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%m : tensor<8x16xi1>) outs(%init : tensor<8xi64>) {
  ^bb0(%c: i1, %acc: i64):
    %0 = arith.extui %c : i1 to i64
    %1 = arith.addi %acc, %0 : i64
    linalg.yield %1 : i64
  } -> tensor<8xi64>
  %b = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%m : tensor<8x16xi1>) outs(%init : tensor<8xi64>) {
  ^bb0(%c: i1, %acc: i64):
    %0 = arith.extui %c : i1 to i64
    %1 = arith.addi %acc, %0 : i64
    linalg.yield %1 : i64
  } -> tensor<8xi64>
  %d = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%m : tensor<8x16xi1>) outs(%start : tensor<8xi64>) {
  ^bb0(%c: i1, %acc: i64):
    %0 = arith.extui %c : i1 to i64
    %1 = arith.addi %acc, %0 : i64
    linalg.yield %1 : i64
  } -> tensor<8xi64>
  return %a, %b, %d : tensor<8xi64>, tensor<8xi64>, tensor<8xi64>
}

// -----

#line = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What one op computes of rows has the extents of the rows: the means of two of
// its results are one operation.
// CHECK-LABEL: func.func @of_one_op
// CHECK: %[[S:.*]]:2 = linalg.generic
// CHECK: linalg.generic {{.*}} ins(%[[S]]#0, %[[S]]#1 :
// CHECK: arith.divf
// CHECK: arith.divf
// CHECK-NOT: linalg.generic
func.func @of_one_op(%x: tensor<?x16xf32>, %init: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %n = arith.constant 16.0 : f32
  %s:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x16xf32>) outs(%init, %init : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32, %acc2: f32):
    %0 = arith.addf %acc, %v : f32
    %1 = arith.mulf %v, %v : f32
    %2 = arith.addf %acc2, %1 : f32
    linalg.yield %0, %2 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  %a = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%s#0 : tensor<?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%v: f32, %out: f32):
    %0 = arith.divf %v, %n : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %b = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%s#1 : tensor<?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%v: f32, %out: f32):
    %0 = arith.divf %v, %n : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// -----

#line = affine_map<(d0) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Sums over rows and over columns need not be as many.
// CHECK-LABEL: func.func @of_both_sides
// CHECK: linalg.generic {{.*}} ins(%[[S:.*]]#0 :
// CHECK: linalg.generic {{.*}} ins(%[[S]]#1 :
func.func @of_both_sides(%x: tensor<?x?xf32>, %rows: tensor<?xf32>, %columns: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %n = arith.constant 16.0 : f32
  %s:2 = linalg.generic {indexing_maps = [#id, #row, #column], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%rows, %columns : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32, %acc2: f32):
    %0 = arith.addf %acc, %v : f32
    %1 = arith.addf %acc2, %v : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  %a = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%s#0 : tensor<?xf32>) outs(%rows : tensor<?xf32>) {
  ^bb0(%v: f32, %out: f32):
    %0 = arith.divf %v, %n : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %b = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%s#1 : tensor<?xf32>) outs(%columns : tensor<?xf32>) {
  ^bb0(%v: f32, %out: f32):
    %0 = arith.divf %v, %n : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}
