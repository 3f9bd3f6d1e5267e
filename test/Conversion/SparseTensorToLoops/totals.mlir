// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s

// A sum of all that tensors of one pattern store is one of their lists.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
#Loose = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : loose_compressed)}>
#BSR = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)}>
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
#none = affine_map<(i, j) -> ()>

// A sum and how many: the mask has the pattern; a number is read with each.

// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %{{[^:]*}}: tensor<?xindex>, %{{[^:]*}}: tensor<?xindex>, %[[A:[^:]*]]: tensor<?xf64>, %{{[^:]*}}: index, %{{[^:]*}}: index, %[[F:[^:]*]]: f64,
// CHECK:       %[[MASK:.*]] = linalg.fill
// CHECK:       linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[A]], %[[MASK]], %[[F]] : tensor<?xf64>, tensor<?xi1>, f64) outs(%{{.*}}, %{{.*}} : tensor<f64>, tensor<i64>)
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @both(%a: tensor<?x?xf64, #CSR>, %f: f64, %s: tensor<f64>, %n: tensor<i64>) -> (tensor<f64>, tensor<i64>) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1 : i64
  %none = arith.constant 0 : i64
  %mask = sparse_autograd.pattern %a : tensor<?x?xf64, #CSR>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #none, #none, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a, %mask, %f : tensor<?x?xf64, #CSR>, tensor<?x?xi1, #CSR>, f64) outs(%s, %n : tensor<f64>, tensor<i64>) {
    ^bb0(%v: f64, %is: i1, %g: f64, %o: f64, %m: i64):
      %p = arith.mulf %v, %g : f64
      %t = arith.select %is, %p, %zero : f64
      %u = arith.addf %o, %t : f64
      %w = arith.select %is, %one, %none : i64
      %x = arith.addi %m, %w : i64
      linalg.yield %u, %x : f64, i64
  } -> (tensor<f64>, tensor<i64>)
  return %r#0, %r#1 : tensor<f64>, tensor<i64>
}

// CHECK-LABEL: func.func @list(
// CHECK:       linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%{{.*}} : tensor<?xf64>) outs(%{{.*}} : tensor<f64>)
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @list(%a: tensor<?x?xf64, #COO>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #COO>) outs(%s : tensor<f64>) {
    ^bb0(%v: f64, %o: f64):
      %z = arith.addf %o, %v : f64
      linalg.yield %z : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

// Loops it is where a list has gaps, or pads blocks, where elements are read at
// other places, and where patterns differ.

// CHECK-LABEL: func.func @gaps(
// CHECK:       scf.for
// CHECK-LABEL: func.func @blocks(
// CHECK:       scf.for
// CHECK-LABEL: func.func @with_dense(
// CHECK:       scf.for
// CHECK-LABEL: func.func @with_transpose(
// CHECK:       scf.for
// CHECK-LABEL: func.func @two_patterns(
// CHECK:       scf.for
// CHECK-LABEL: func.func @of_places(
// CHECK:       scf.for
func.func @gaps(%a: tensor<?x?xf64, #Loose>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #Loose>) outs(%s : tensor<f64>) {
    ^bb0(%v: f64, %o: f64):
      %z = arith.addf %o, %v : f64
      linalg.yield %z : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}
func.func @blocks(%a: tensor<?x?xf64, #BSR>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #BSR>) outs(%s : tensor<f64>) {
    ^bb0(%v: f64, %o: f64):
      %z = arith.addf %o, %v : f64
      linalg.yield %z : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}
func.func @with_dense(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x?xf64>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [#id, #id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%s : tensor<f64>) {
    ^bb0(%v: f64, %w: f64, %o: f64):
      %p = arith.mulf %v, %w : f64
      %z = arith.addf %o, %p : f64
      linalg.yield %z : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}
func.func @with_transpose(%a: tensor<?x?xf64, #CSR>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [#id, #transposed, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a, %a : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%s : tensor<f64>) {
    ^bb0(%v: f64, %w: f64, %o: f64):
      %p = arith.mulf %v, %w : f64
      %z = arith.addf %o, %p : f64
      linalg.yield %z : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}
func.func @two_patterns(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [#id, #id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%s : tensor<f64>) {
    ^bb0(%v: f64, %w: f64, %o: f64):
      %p = arith.addf %v, %w : f64
      %z = arith.addf %o, %p : f64
      linalg.yield %z : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}
func.func @of_places(%a: tensor<?x?xf64, #CSR>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%s : tensor<f64>) {
    ^bb0(%v: f64, %o: f64):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      %w = arith.sitofp %j : i64 to f64
      %p = arith.mulf %v, %w : f64
      %z = arith.addf %o, %p : f64
      linalg.yield %z : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}
