// Elementwise ops on sparse tensors that change the element type
// (lib/Transforms/SparseElementwise.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-sparse-elementwise | FileCheck %s
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-LABEL: func @extend
// CHECK:      linalg.generic {{.*}} outs(%{{.+}} : tensor<4x4xf64, #{{.+}}>)
// CHECK:        arith.extf %{{.+}} : f32 to f64
func.func @extend(%x: tensor<4x4xf32, #CSR>) -> tensor<4x4xf64, #CSR> {
  %0 = arith.extf %x : tensor<4x4xf32, #CSR> to tensor<4x4xf64, #CSR>
  return %0 : tensor<4x4xf64, #CSR>
}
// Left to MLIR.
// CHECK-LABEL: func @negate
// CHECK-NEXT: arith.negf %{{.+}} : tensor<4x4xf32, #{{.+}}>
// CHECK-NEXT: return
func.func @negate(%x: tensor<4x4xf32, #CSR>) -> tensor<4x4xf32, #CSR> {
  %0 = arith.negf %x : tensor<4x4xf32, #CSR>
  return %0 : tensor<4x4xf32, #CSR>
}
