// One op over all terms of a sum (lib/Transforms/ExpandAccumulate.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-expand-accumulate | FileCheck %s
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-LABEL: func @dense
// CHECK-SAME: (%[[X:.+]]: tensor<4x4xf64, #{{.+}}>, %[[Y:.+]]: tensor<4x4xf64>, %[[Z:.+]]: tensor<4x4xf64>)
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[X]], %[[Z]] : {{.*}}) outs(%[[Y]] : tensor<4x4xf64>)
// CHECK-COUNT-2: arith.addf
// CHECK-NOT:  arith.addf
func.func @dense(%x: tensor<4x4xf64, #CSR>, %y: tensor<4x4xf64>, %z: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %0 = sparse_autograd.accumulate %x, %y, %z : tensor<4x4xf64, #CSR>, tensor<4x4xf64>, tensor<4x4xf64> -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}
