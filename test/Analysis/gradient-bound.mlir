// What gradients take at most (lib/Analysis/GradientBound.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-gradient-bound -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      @gradients, argument 0: nnz(0) elements, 8 * nnz(0) bytes
// CHECK-NEXT: @gradients, argument 1: 8 * dim(1, 1) elements, 8 * 8 * dim(1, 1) bytes
// CHECK-NEXT: @gradients, argument 2: nnz(0) elements, 8 * 8 * 4 bytes
// CHECK-NEXT: @indices, argument 0: 4 elements, 8 * 4 bytes
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

#id = affine_map<(i, j) -> (i, j)>
func.func @gradients(%x: tensor<8x4xf64, #CSR>, %d: tensor<8x?xf64>, %e: tensor<8x4xf64>)
    -> (tensor<8x4xf64, #CSR> {sparse_autograd.gradient_of = 0}, tensor<8x?xf64> {sparse_autograd.gradient_of = 1}, tensor<8x4xf64> {sparse_autograd.gradient_of = 2}) {
  %0 = tensor.empty() : tensor<8x4xf64, #CSR>
  %dx = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x4xf64, #CSR>) outs(%0 : tensor<8x4xf64, #CSR>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.addf %a, %a : f64
    linalg.yield %p : f64
  } -> tensor<8x4xf64, #CSR>
  %1 = tensor.empty() : tensor<8x4xf64>
  %de = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %e : tensor<8x4xf64, #CSR>, tensor<8x4xf64>) outs(%1 : tensor<8x4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<8x4xf64>
  %dd = math.exp %d : tensor<8x?xf64>
  return %dx, %dd, %de : tensor<8x4xf64, #CSR>, tensor<8x?xf64>, tensor<8x4xf64>
}
// Elements of any type.
func.func @indices(%x: tensor<4xindex>) -> (tensor<4xindex> {sparse_autograd.gradient_of = 0}) {
  %0 = arith.addi %x, %x : tensor<4xindex>
  return %0 : tensor<4xindex>
}
