// RUN: sparse-opt %s --sparse-autograd-differentiate | FileCheck %s

// The type of a reduction may leave open that the reduced dimensions, which it
// keeps, have extent 1; its tangent has the same type.
// CHECK-LABEL: func.func private @norm__jvp_0
// CHECK: %[[EXPANDED:.*]] = tensor.expand_shape %{{.*}} into tensor<1xf64>
// CHECK: %[[TANGENT:.*]] = tensor.cast %[[EXPANDED]] : tensor<1xf64> to tensor<?xf64>
// CHECK: return %{{.*}}, %[[TANGENT]]
func.func private @norm(%x: tensor<?xf64>) -> tensor<?xf64> {
  %y = sparse_autograd.masked_reduce norm2 %x dims = [0] keepdims : tensor<?xf64> -> tensor<?xf64>
  return %y : tensor<?xf64>
}
func.func @forward(%x: tensor<?xf64>, %t: tensor<?xf64>) -> tensor<?xf64> {
  %y:2 = sparse_autograd.jvp @norm(%x) tangents(%t) {wrt = [0]} : (tensor<?xf64>), (tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  return %y#1 : tensor<?xf64>
}

// CHECK-LABEL: func.func private @mean__vjp_0
// CHECK: return %{{.*}}, %{{.*}} : tensor<?xf64>, tensor<?xf64>
func.func private @mean(%x: tensor<?xf64>) -> tensor<?xf64> {
  %y = sparse_autograd.masked_reduce mean %x dims = [0] keepdims : tensor<?xf64> -> tensor<?xf64>
  return %y : tensor<?xf64>
}
func.func @reverse(%x: tensor<?xf64>, %c: tensor<?xf64>) -> tensor<?xf64> {
  %y:2 = sparse_autograd.vjp @mean(%x) cotangents(%c) {wrt = [0]} : (tensor<?xf64>), (tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  return %y#1 : tensor<?xf64>
}
