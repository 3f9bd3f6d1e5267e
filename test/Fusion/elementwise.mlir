// RUN: sparse-opt %s --sparse-autograd-fuse="group-rows=false" --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A producer with two consumers is computed in both: no tensor of the size of
// %x is left.
// CHECK-LABEL: func.func @repeated
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>
// CHECK-NOT: tensor.empty() : tensor<8x16xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] :
// CHECK: math.absf
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @repeated(%x: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %a = linalg.abs ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.addf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.maximumf %acc, %v : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %s, %m : tensor<8xf32>, tensor<8xf32>
}

// -----

// A matrix product stays one: its operand is computed before it.
// CHECK-LABEL: func.func @product
// CHECK: %[[A:.*]] = linalg.generic
// CHECK: math.absf
// CHECK: linalg.matmul ins(%[[A]], %{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>)
func.func @product(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %a = linalg.abs ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%a, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// -----

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>

// So does one written as a generic.
// CHECK-LABEL: func.func @generic_product
// CHECK: %[[A:.*]] = linalg.generic
// CHECK: math.absf
// CHECK-NOT: arith.mulf
// CHECK: linalg.yield
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[A]], %{{.*}} :
// CHECK-NOT: math.absf
// CHECK: return
func.func @generic_product(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %a = linalg.abs ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// -----

// A broadcast costs nothing to repeat, a logarithm of each row would be
// computed again for each element.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>, %[[R:.*]]: tensor<8xf32>
// CHECK: %[[LOG:.*]] = linalg.generic
// CHECK-SAME: ins(%[[R]] : tensor<8xf32>)
// CHECK: math.log
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[LOG]] : tensor<8x16xf32>, tensor<8xf32>)
// CHECK: arith.subf
// CHECK-NOT: linalg
// CHECK: linalg.yield
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @broadcast(%x: tensor<8x16xf32>, %r: tensor<8xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %l = linalg.log ins(%r : tensor<8xf32>) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.broadcast ins(%l : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %s = linalg.sub ins(%x, %b : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %s : tensor<8x16xf32>
}

// -----

// A producer outside of a loop is not moved into it.
// CHECK-LABEL: func.func @loop
// CHECK: math.exp
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK-NOT: math.exp
// CHECK: return
func.func @loop(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %y) -> (tensor<8xf32>) {
    %s = linalg.add ins(%v, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
