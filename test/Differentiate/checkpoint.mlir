// RUN: sparse-opt %s --sparse-autograd-differentiate --inline --canonicalize --cse | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd=compile-to=lower-sparse | FileCheck %s --check-prefix=LOWERED

// The backward pass computes the callee again, from a barrier that waits for
// the cotangent: common-subexpression elimination leaves both (F3).
// CHECK-LABEL: func.func @reverse
// CHECK-SAME: %[[X:.*]]: f64, %[[CT:.*]]: f64
// CHECK: %[[EXP:.*]] = math.exp %[[X]]
// CHECK: %[[Y:.*]] = math.sin %[[EXP]]
// CHECK: %[[LATE:.*]]:2 = sparse_autograd.barrier %[[X]], %[[CT]]
// CHECK: %[[AGAIN:.*]] = math.exp %[[LATE]]#0
// CHECK: %[[COS:.*]] = math.cos %[[AGAIN]]
// CHECK: %[[DEXP:.*]] = arith.mulf %[[LATE]]#1, %[[COS]]
// CHECK: %[[DX:.*]] = arith.mulf %[[DEXP]], %[[AGAIN]]
// CHECK: return %[[Y]], %[[DX]]
//
// Below tensors the barrier is gone, the second computation is not.
// LOWERED-LABEL: func.func @reverse
// LOWERED-NOT: sparse_autograd.barrier
// LOWERED-COUNT-2: math.exp
func.func private @layer(%x: f64) -> f64 {
  %e = math.exp %x : f64
  %y = math.sin %e : f64
  return %y : f64
}
func.func private @f(%x: f64) -> f64 {
  %y = sparse_autograd.checkpoint @layer(%x) : (f64) -> f64
  return %y : f64
}
func.func @reverse(%x: f64, %ct: f64) -> (f64, f64) {
  %y, %dx = sparse_autograd.vjp @f(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %y, %dx : f64, f64
}

// Forward mode keeps nothing, so there is nothing to compute again.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: sparse_autograd.barrier
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @forward(%x: f64, %t: f64) -> (f64, f64) {
  %y, %ty = sparse_autograd.jvp @f(%x) tangents(%t) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %y, %ty : f64, f64
}

// What has effects is called once.
func.func private @checked(%x: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %c = arith.cmpf oge, %x, %zero : f64
  cf.assert %c, "negative"
  %y = math.sin %x : f64
  return %y : f64
}
func.func private @h(%x: f64) -> f64 {
  %y = sparse_autograd.checkpoint @checked(%x) : (f64) -> f64
  return %y : f64
}
// CHECK-LABEL: func.func @forward_with_effects
// CHECK: cf.assert
// CHECK-NOT: cf.assert
// CHECK: return
func.func @forward_with_effects(%x: f64, %t: f64) -> (f64, f64) {
  %y, %ty = sparse_autograd.jvp @h(%x) tangents(%t) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %y, %ty : f64, f64
}

// Without a derivative it is a call.
// CHECK-LABEL: func.func @value
// CHECK-NOT: sparse_autograd
// CHECK: math.exp
// CHECK: math.sin
func.func @value(%x: f64) -> f64 {
  %y = sparse_autograd.checkpoint @layer(%x) : (f64) -> f64
  return %y : f64
}

// The mask of what reads a checkpoint selects in what is computed again, and its
// own one selects in what comes before it (G2).
func.func private @masked_layer(%x: tensor<4xf64>, %n: tensor<4xi1>) -> tensor<4xf64> {
  %zero = arith.constant dense<0.0> : tensor<4xf64>
  %r = math.sqrt %x : tensor<4xf64>
  %y = arith.select %n, %r, %zero : tensor<4xi1>, tensor<4xf64>
  return %y : tensor<4xf64>
}
func.func private @masked(%x: tensor<4xf64>, %m: tensor<4xi1>, %n: tensor<4xi1>) -> tensor<f64> {
  %l = math.log %x : tensor<4xf64>
  %y = sparse_autograd.checkpoint @masked_layer(%l, %n) : (tensor<4xf64>, tensor<4xi1>) -> tensor<4xf64>
  %s = sparse_autograd.masked_reduce sum %y, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  return %s : tensor<f64>
}
// CHECK-LABEL: func.func @reverse_masked
// CHECK-SAME: %[[X:.*]]: tensor<4xf64>, %[[M:[a-z0-9]*]]: tensor<4xi1>
// CHECK: %[[LATE:.*]]:3 = sparse_autograd.barrier
// CHECK: %[[AGAIN:.*]] = linalg.generic {{.*}} ins(%[[LATE]]#0 : tensor<4xf64>)
// CHECK: math.sqrt
// CHECK: %[[BOTH:.*]] = linalg.generic {{.*}} ins(%[[LATE]]#1, %[[M]] : tensor<4xi1>, tensor<4xi1>)
// CHECK: arith.andi
// CHECK: %[[DL:.*]] = linalg.generic {{.*}} ins(%[[AGAIN]], %{{.*}}, %[[BOTH]] : tensor<4xf64>, tensor<4xf64>, tensor<4xi1>)
// CHECK: arith.select
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[DL]], %[[BOTH]] : tensor<4xf64>, tensor<4xf64>, tensor<4xi1>)
// CHECK: arith.select
// CHECK: return %[[DX]]
func.func @reverse_masked(%x: tensor<4xf64>, %m: tensor<4xi1>, %n: tensor<4xi1>) -> tensor<4xf64> {
  %l, %dx = sparse_autograd.value_and_grad @masked(%x, %m, %n) {wrt = [0]} : (tensor<4xf64>, tensor<4xi1>, tensor<4xi1>) -> (tensor<f64>, tensor<4xf64>)
  return %dx : tensor<4xf64>
}

// Nor is the block of a region that is to stay kept. Any other is inlined.
func.func private @regions(%x: f64) -> f64 {
  %y = scf.execute_region -> f64 no_inline {
    %e = math.exp %x : f64
    %s = math.sin %e : f64
    scf.yield %s : f64
  }
  %z = scf.execute_region -> f64 {
    %t = math.tanh %y : f64
    scf.yield %t : f64
  }
  return %z : f64
}
// CHECK-LABEL: func.func @reverse_regions
// CHECK-NOT: scf.execute_region
// CHECK: math.exp
// CHECK: math.tanh
// CHECK-NOT: math.tanh
// CHECK: sparse_autograd.barrier
// CHECK: math.exp
// CHECK: return
func.func @reverse_regions(%x: f64) -> f64 {
  %y, %dx = sparse_autograd.value_and_grad @regions(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %dx : f64
}
