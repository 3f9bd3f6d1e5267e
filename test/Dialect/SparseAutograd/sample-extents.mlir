// RUN: sparse-opt %s --canonicalize | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-canonicalize | FileCheck %s

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// An extent that is asked of what a sample reads does not keep it whole.
// CHECK-LABEL: @sample_of_sum_with_extents
// CHECK: %[[PRODUCT:.*]] = sparse_autograd.sampled_generic
// CHECK-SAME: ["parallel", "parallel", "reduction"]
// CHECK: %[[FIRST:.*]] = sparse_autograd.sampled_generic {{.*}} ins(%[[PRODUCT]],
// CHECK: sparse_autograd.sampled_generic {{.*}} ins(%[[FIRST]],
// CHECK-NOT: tensor.empty
// CHECK: return
func.func @sample_of_sum_with_extents(%p: tensor<?x?xf64>, %q: tensor<?x?xf64>,
    %u: tensor<?xf64>, %i: tensor<?xf64>, %r: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %p, %c0 : tensor<?x?xf64>
  %n = tensor.dim %q, %c1 : tensor<?x?xf64>
  %e0 = tensor.empty(%m, %n) : tensor<?x?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e0 : tensor<?x?xf64>) -> tensor<?x?xf64>
  %product = linalg.matmul ins(%p, %q : tensor<?x?xf64>, tensor<?x?xf64>) outs(%f : tensor<?x?xf64>) -> tensor<?x?xf64>
  %m1 = tensor.dim %product, %c0 : tensor<?x?xf64>
  %n1 = tensor.dim %product, %c1 : tensor<?x?xf64>
  %e1 = tensor.empty(%m1, %n1) : tensor<?x?xf64>
  %first = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%product, %u : tensor<?x?xf64>, tensor<?xf64>) outs(%e1 : tensor<?x?xf64>) {
    ^bb0(%x: f64, %y: f64, %out: f64):
      %s = arith.addf %x, %y : f64
      linalg.yield %s : f64
  } -> tensor<?x?xf64>
  %m2 = tensor.dim %first, %c0 : tensor<?x?xf64>
  %n2 = tensor.dim %first, %c1 : tensor<?x?xf64>
  %e2 = tensor.empty(%m2, %n2) : tensor<?x?xf64>
  %second = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>],
      iterator_types = ["parallel", "parallel"]} ins(%first, %i : tensor<?x?xf64>, tensor<?xf64>) outs(%e2 : tensor<?x?xf64>) {
    ^bb0(%x: f64, %y: f64, %out: f64):
      %s = arith.addf %x, %y : f64
      linalg.yield %s : f64
  } -> tensor<?x?xf64>
  %sampled = sparse_autograd.sample %second, %r : tensor<?x?xf64>, tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  return %sampled : tensor<?x?xf64, #CSR>
}
