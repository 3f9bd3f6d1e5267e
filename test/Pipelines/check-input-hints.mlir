// RUN: sparse-opt %s --sparse-autograd-check-input | FileCheck %s

// Hints for the compiler are no marks of it.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
// CHECK: sparse_tensor.convert {{.*}}sparse_autograd.nnz = 8
func.func @hint(%x: tensor<8x8xf64>) -> tensor<8x8xf64, #CSR> {
  %s = sparse_tensor.convert %x {sparse_autograd.nnz = 8 : i64} : tensor<8x8xf64> to tensor<8x8xf64, #CSR>
  return %s : tensor<8x8xf64, #CSR>
}
