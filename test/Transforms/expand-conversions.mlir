// The element type, then the storage (lib/Transforms/ExpandConversions.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-expand-conversions | FileCheck %s
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-LABEL: func @both
// CHECK-SAME: (%[[X:.+]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[X]] : tensor<4x4xf32> to tensor<4x4xf64>
// CHECK-NEXT: sparse_tensor.convert %[[WIDE]] : tensor<4x4xf64> to tensor<4x4xf64, #{{.+}}>
func.func @both(%x: tensor<4x4xf32>) -> tensor<4x4xf64, #CSR> {
  %0 = sparse_tensor.convert %x : tensor<4x4xf32> to tensor<4x4xf64, #CSR>
  return %0 : tensor<4x4xf64, #CSR>
}
// CHECK-LABEL: func @elements
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: return
func.func @elements(%x: tensor<4x4xf64, #CSR>) -> tensor<4x4xf32, #CSR> {
  %0 = sparse_tensor.convert %x : tensor<4x4xf64, #CSR> to tensor<4x4xf32, #CSR>
  return %0 : tensor<4x4xf32, #CSR>
}
// CHECK-LABEL: func @storage
// CHECK-NEXT: sparse_tensor.convert
// CHECK-NEXT: return
func.func @storage(%x: tensor<4x4xf64>) -> tensor<4x4xf64, #CSR> {
  %0 = sparse_tensor.convert %x : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  return %0 : tensor<4x4xf64, #CSR>
}
