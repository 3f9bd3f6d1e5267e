// The dense tensor on the way to a sparse gradient, unless something else needs it
// (lib/Analysis/GradientDensity.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-gradient-density -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      @dense, argument 0: dense product, read by product, read by convert
// CHECK-NEXT: @needed, argument 0: nothing dense
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

func.func @dense(%d: tensor<8x4xf64>, %w: tensor<4x4xf64>, %init: tensor<8x4xf64>) -> (tensor<8x4xf64, #CSR> {sparse_autograd.gradient_of = 0}) {
  %m = linalg.matmul {tag = "product"} ins(%d, %w : tensor<8x4xf64>, tensor<4x4xf64>) outs(%init : tensor<8x4xf64>) -> tensor<8x4xf64>
  %g = sparse_tensor.convert %m {tag = "convert"} : tensor<8x4xf64> to tensor<8x4xf64, #CSR>
  return %g : tensor<8x4xf64, #CSR>
}
// The product is a result too: it is there anyway.
func.func @needed(%d: tensor<8x4xf64>, %w: tensor<4x4xf64>, %init: tensor<8x4xf64>) -> (tensor<8x4xf64>, tensor<8x4xf64, #CSR> {sparse_autograd.gradient_of = 0}) {
  %m = linalg.matmul {tag = "product"} ins(%d, %w : tensor<8x4xf64>, tensor<4x4xf64>) outs(%init : tensor<8x4xf64>) -> tensor<8x4xf64>
  %g = sparse_tensor.convert %m {tag = "convert"} : tensor<8x4xf64> to tensor<8x4xf64, #CSR>
  return %m, %g : tensor<8x4xf64>, tensor<8x4xf64, #CSR>
}
