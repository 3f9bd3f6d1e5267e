// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate | FileCheck %s

// Cotangents of slices without a common element are stored into zeros one after
// the other: nothing is read there, and nothing is added.

// CHECK-LABEL: func.func private @disjoint__value_and_grad_0
// CHECK:       %[[FIRST:.*]] = tensor.insert_slice
// CHECK-NOT:   tensor.extract_slice
// CHECK:       tensor.insert_slice %{{.*}} into %[[FIRST]]
func.func private @disjoint(%w: tensor<2x8xf64>) -> f64 {
  %a = tensor.extract_slice %w[0, 0] [1, 8] [1, 1] : tensor<2x8xf64> to tensor<8xf64>
  %b = tensor.extract_slice %w[1, 0] [1, 8] [1, 1] : tensor<2x8xf64> to tensor<8xf64>
  %p = arith.mulf %a, %b : tensor<8xf64>
  %s = sparse_autograd.masked_reduce sum %p dims = [0] : tensor<8xf64> -> tensor<f64>
  %l = tensor.extract %s[] : tensor<f64>
  return %l : f64
}
func.func @main(%w: tensor<2x8xf64>) -> (f64, tensor<2x8xf64>) {
  %l, %g = sparse_autograd.value_and_grad @disjoint(%w) {wrt = [0]} : (tensor<2x8xf64>) -> (f64, tensor<2x8xf64>)
  return %l, %g : f64, tensor<2x8xf64>
}

// -----

// Slices that overlap are added.

// CHECK-LABEL: func.func private @overlapping__value_and_grad_0
// CHECK:       %[[FIRST:.*]] = tensor.insert_slice
// CHECK:       %[[READ:.*]] = tensor.extract_slice %[[FIRST]]
// CHECK:       %[[SUM:.*]] = arith.addf {{.*}}%[[READ]]
// CHECK:       tensor.insert_slice %[[SUM]] into %[[FIRST]]
func.func private @overlapping(%w: tensor<10xf64>) -> f64 {
  %a = tensor.extract_slice %w[0] [8] [1] : tensor<10xf64> to tensor<8xf64>
  %b = tensor.extract_slice %w[2] [8] [1] : tensor<10xf64> to tensor<8xf64>
  %p = arith.mulf %a, %b : tensor<8xf64>
  %s = sparse_autograd.masked_reduce sum %p dims = [0] : tensor<8xf64> -> tensor<f64>
  %l = tensor.extract %s[] : tensor<f64>
  return %l : f64
}
func.func @main(%w: tensor<10xf64>) -> (f64, tensor<10xf64>) {
  %l, %g = sparse_autograd.value_and_grad @overlapping(%w) {wrt = [0]} : (tensor<10xf64>) -> (f64, tensor<10xf64>)
  return %l, %g : f64, tensor<10xf64>
}
