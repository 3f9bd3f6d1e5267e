// Hints on ops are gone once formats are chosen, for later passes make ops of them
// that compute no tensor; those on arguments stay.
// RUN: sparse-opt %s --sparse-autograd-select-formats | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd -o /dev/null

// CHECK-LABEL: func @hint
// CHECK-SAME: sparse_autograd.nnz = 3
// CHECK-NOT:  sparse_autograd.nnz
func.func @hint(%x: tensor<4xf32> {sparse_autograd.nnz = 3 : i64}) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() {sparse_autograd.nnz = 4 : i64} : tensor<4xf32>
  %ones = linalg.fill {sparse_autograd.nnz = 4 : i64} ins(%one : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %sum = arith.addf %x, %ones {sparse_autograd.nnz = 4 : i64} : tensor<4xf32>
  return %ones, %sum : tensor<4xf32>, tensor<4xf32>
}
