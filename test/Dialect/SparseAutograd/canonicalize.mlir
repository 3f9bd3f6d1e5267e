// RUN: sparse-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @all_true_mask
// CHECK: sparse_autograd.masked_reduce sum %{{.*}} dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
// CHECK: sparse_autograd.masked_softmax %{{.*}} dims = [1] : tensor<4x8xf32>
func.func @all_true_mask(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %m = arith.constant dense<true> : tensor<4x8xi1>
  %0 = sparse_autograd.masked_reduce sum %x, %m dims = [1] : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4xf32>
  %1 = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<4x8xf32>, tensor<4x8xi1>
  return %0, %1 : tensor<4xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: @all_false_mask
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0xFF800000> : tensor<4xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x8xf32>
// CHECK: return %[[INF]], %[[ONE]], %[[ZERO]]
func.func @all_false_mask(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) {
  %m = arith.constant dense<false> : tensor<4x8xi1>
  %0 = sparse_autograd.masked_reduce max %x, %m dims = [1] : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4xf32>
  %1 = sparse_autograd.masked_reduce prod %x, %m dims = [1] : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4xf32>
  %2 = sparse_autograd.masked_log_softmax %x, %m dims = [1] : tensor<4x8xf32>, tensor<4x8xi1>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: @nested_grad_masks
// CHECK-COUNT-1: sparse_autograd.grad_mask
// CHECK-NOT: sparse_autograd.grad_mask
func.func @nested_grad_masks(%x: tensor<4xf32>, %m: tensor<4xi1>) -> tensor<4xf32> {
  %0 = sparse_autograd.grad_mask %x, %m : tensor<4xf32>, tensor<4xi1>
  %1 = sparse_autograd.grad_mask %0, %m : tensor<4xf32>, tensor<4xi1>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @no_reduction
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: return %[[X]]
func.func @no_reduction(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sparse_autograd.masked_reduce sum %x dims = [] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @stopped_twice
// CHECK-COUNT-1: sparse_autograd.stop_gradient
// CHECK-NOT: sparse_autograd.stop_gradient
func.func @stopped_twice(%x: f32) -> f32 {
  %0 = sparse_autograd.stop_gradient %x : f32
  %1 = sparse_autograd.stop_gradient %0 : f32
  return %1 : f32
}
