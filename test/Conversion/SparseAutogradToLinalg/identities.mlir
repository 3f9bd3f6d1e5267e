// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @grad_mask
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
func.func @grad_mask(%x: tensor<4x8xf32>, %m: tensor<8xi1>) -> tensor<4x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = sparse_autograd.grad_mask %x, %m mask_dims = [1] : tensor<4x8xf32>, tensor<8xi1>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @stop_gradient
// CHECK-SAME: %[[X:.*]]: f64
func.func @stop_gradient(%x: f64) -> f64 {
  // CHECK-NEXT: return %[[X]]
  %0 = sparse_autograd.stop_gradient %x : f64
  return %0 : f64
}

// CHECK-LABEL: func.func @log
func.func @log(%x: f64) {
  // CHECK-NEXT: sparse_autograd.log "x" %{{.*}} : f64
  sparse_autograd.log "x" %x : f64
  return
}
