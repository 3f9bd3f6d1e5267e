// RUN: sparse-opt %s --sparse-autograd-differentiate --canonicalize --cse | FileCheck %s

// Cotangents of dense values that a sparse tensor makes zero where it stores
// nothing.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
#all = affine_map<(i, j) -> ()>

// The sum of A * x.
func.func private @sum_at(%a: tensor<4x8xf32, #csr>, %x: tensor<4x8xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #id, #all], iterator_types = ["reduction", "reduction"]}
      ins(%a, %x : tensor<4x8xf32, #csr>, tensor<4x8xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %q = arith.mulf %u, %v : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

func.func private @of_product(%a: tensor<4x8xf32, #csr>, %x: tensor<4x3xf32>, %y: tensor<3x8xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = linalg.matmul ins(%x, %y : tensor<4x3xf32>, tensor<3x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = math.sin %p : tensor<4x8xf32>
  %t = math.tanh %q : tensor<4x8xf32>
  %u = math.exp %q : tensor<4x8xf32>
  %v = arith.mulf %t, %u : tensor<4x8xf32>
  %s = func.call @sum_at(%a, %v) : (tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// Those of tanh, of exp and, their sum, of the sine, and then of the product,
// which is sampled; its factors have dense gradients.
// CHECK-LABEL: func private @of_product__value_and_grad_1_2(
// CHECK-NOT: tensor<4x8xf32>
// CHECK: %[[DY:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[G:.*]] : tensor<4x3xf32>, tensor<4x8xf32, #{{.*}}>) outs({{.*}} : tensor<3x8xf32>)
// CHECK-NOT: tensor<4x8xf32>
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[G]] : tensor<3x8xf32>, tensor<4x8xf32, #{{.*}}>) outs({{.*}} : tensor<4x3xf32>)
// CHECK-NOT: tensor<4x8xf32>
// CHECK: return %{{.*}}, %[[DX]], %[[DY]]
func.func @product(%a: tensor<4x8xf32, #csr>, %x: tensor<4x3xf32>, %y: tensor<3x8xf32>) -> (tensor<4x3xf32>, tensor<3x8xf32>) {
  %g:3 = sparse_autograd.value_and_grad @of_product(%a, %x, %y) {wrt = [1, 2]}
      : (tensor<4x8xf32, #csr>, tensor<4x3xf32>, tensor<3x8xf32>) -> (tensor<f32>, tensor<4x3xf32>, tensor<3x8xf32>)
  return %g#1, %g#2 : tensor<4x3xf32>, tensor<3x8xf32>
}

// One that is asked for is dense, and so is one that a sine reads: cos(0) is no
// zero. It starts from what is stored.
func.func private @of_sine(%a: tensor<4x8xf32, #csr>, %x: tensor<4x8xf32>) -> tensor<f32> {
  %t = math.sin %x : tensor<4x8xf32>
  %s = func.call @sum_at(%a, %t) : (tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> tensor<f32>
  return %s : tensor<f32>
}
// CHECK-LABEL: func private @of_sine__value_and_grad_1(
// CHECK: %[[G:.*]] = sparse_autograd.sampled_generic
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[G]] : tensor<4x8xf32>, tensor<4x8xf32, #{{.*}}>) outs({{.*}} : tensor<4x8xf32>)
// CHECK: return %{{.*}}, %[[DX]]
func.func @sine(%a: tensor<4x8xf32, #csr>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %g:2 = sparse_autograd.value_and_grad @of_sine(%a, %x) {wrt = [1]}
      : (tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>)
  return %g#1 : tensor<4x8xf32>
}

// Another pattern, and a dense summand: the sum is dense, and they are added to
// it.
func.func private @of_three(%a: tensor<4x8xf32, #csr>, %b: tensor<4x8xf32, #csr>, %x: tensor<4x8xf32>) -> tensor<f32> {
  %t = arith.mulf %x, %x : tensor<4x8xf32>
  %s = func.call @sum_at(%a, %t) : (tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> tensor<f32>
  %r = func.call @sum_at(%b, %t) : (tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> tensor<f32>
  %y = arith.mulf %s, %r : tensor<f32>
  return %y : tensor<f32>
}
// CHECK-LABEL: func private @of_three__value_and_grad_2(
// CHECK-DAG: %[[GA:.*]] = sparse_autograd.sampled_generic {{.*}} ins(%[[A:arg0]],
// CHECK-DAG: %[[GB:.*]] = sparse_autograd.sampled_generic {{.*}} ins(%[[B:arg1]],
// CHECK: sparse_autograd.accumulate %[[GB]], %[[GA]] : {{.*}} -> tensor<4x8xf32>
func.func @three(%a: tensor<4x8xf32, #csr>, %b: tensor<4x8xf32, #csr>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %g:2 = sparse_autograd.value_and_grad @of_three(%a, %b, %x) {wrt = [2]}
      : (tensor<4x8xf32, #csr>, tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>)
  return %g#1 : tensor<4x8xf32>
}

// Where a mask leaves out sums over windows, what the windows read is reached all
// the same.
func.func private @of_windows(%a: tensor<4x3xf32, #csr>, %x: tensor<6xf32>, %m: tensor<4xi1>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<4x3xf32, #csr>, tensor<6xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %q = arith.mulf %u, %v : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %s = sparse_autograd.masked_reduce sum %y, %m dims = [0] : tensor<4xf32>, tensor<4xi1> -> tensor<f32>
  return %s : tensor<f32>
}
// CHECK-LABEL: func private @of_windows__value_and_grad_1(
// CHECK: %[[DX:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "reduction"]{{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x3xf32, #{{.*}}>, {{.*}}) outs({{.*}} : tensor<6xf32>)
// CHECK: return %{{.*}}, %[[DX]]
func.func @windows(%a: tensor<4x3xf32, #csr>, %x: tensor<6xf32>, %m: tensor<4xi1>) -> tensor<6xf32> {
  %g:2 = sparse_autograd.value_and_grad @of_windows(%a, %x, %m) {wrt = [1]}
      : (tensor<4x3xf32, #csr>, tensor<6xf32>, tensor<4xi1>) -> (tensor<f32>, tensor<6xf32>)
  return %g#1 : tensor<6xf32>
}

// What reads the sum of two selects where one of the two stores something (G2).
func.func private @of_logarithm(%a: tensor<4x8xf32, #csr>, %b: tensor<4x8xf32, #csr>, %x: tensor<4x8xf32>) -> tensor<f32> {
  %t = math.log %x : tensor<4x8xf32>
  %s = func.call @sum_at(%a, %t) : (tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> tensor<f32>
  %r = func.call @sum_at(%b, %t) : (tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> tensor<f32>
  %y = arith.mulf %s, %r : tensor<f32>
  return %y : tensor<f32>
}
// CHECK-LABEL: func private @of_logarithm__value_and_grad_2(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32, #{{.*}}>, %[[B:.*]]: tensor<4x8xf32, #{{.*}}>, %[[X:.*]]: tensor<4x8xf32>)
// CHECK-DAG: %[[PA:.*]] = sparse_autograd.pattern %[[A]]
// CHECK-DAG: %[[PB:.*]] = sparse_autograd.pattern %[[B]]
// CHECK-DAG: %[[MA:.*]] = sparse_tensor.convert %[[PA]]
// CHECK-DAG: %[[MB:.*]] = sparse_tensor.convert %[[PB]]
// CHECK: %[[EITHER:.*]] = arith.ori %[[MB]], %[[MA]]
// CHECK: %[[CT:.*]] = sparse_autograd.accumulate
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[CT]], %[[EITHER]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>)
// CHECK: arith.select
// CHECK: return %{{.*}}, %[[DX]]
func.func @logarithm(%a: tensor<4x8xf32, #csr>, %b: tensor<4x8xf32, #csr>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %g:2 = sparse_autograd.value_and_grad @of_logarithm(%a, %b, %x) {wrt = [2]}
      : (tensor<4x8xf32, #csr>, tensor<4x8xf32, #csr>, tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>)
  return %g#1 : tensor<4x8xf32>
}
