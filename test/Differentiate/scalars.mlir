// RUN: sparse-opt %s --sparse-autograd-differentiate --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @sine
func.func @sine(%x: f64) -> f64 {
  %y = math.sin %x : f64
  return %y : f64
}

// The derivative is a private function behind the one it is of, named after
// the symbol, the mode and the arguments (G8).
// CHECK: func.func private @sine__value_and_grad_0(%[[X:[a-z0-9]+]]: f64) -> (f64, f64 {sparse_autograd.gradient_of = 0 : i64})
// CHECK-DAG: math.sin %[[X]] : f64
// CHECK-DAG: math.cos %[[X]] : f64
// CHECK: return

// CHECK-LABEL: func.func @gradient
// CHECK: call @sine__value_and_grad_0
// CHECK: call @sine__value_and_grad_0
// CHECK-NOT: sparse_autograd.value_and_grad
func.func @gradient(%x: f64, %y: f64) -> (f64, f64) {
  %a:2 = sparse_autograd.value_and_grad @sine(%x) {wrt = [0]} : (f64) -> (f64, f64)
  %b:2 = sparse_autograd.value_and_grad @sine(%y) {wrt = [0]} : (f64) -> (f64, f64)
  return %a#1, %b#1 : f64, f64
}

// A derivative has the fast-math flags of its op, conversions as well.
// CHECK-LABEL: func.func private @widened__vjp_0
// CHECK: arith.extf %{{.*}} fastmath<contract> : f32 to f64
// CHECK: arith.truncf %{{.*}} fastmath<contract> : f64 to f32
func.func private @widened(%x: f32) -> f64 {
  %y = arith.extf %x fastmath<contract> : f32 to f64
  return %y : f64
}
func.func @widened_gradient(%x: f32, %ct: f64) -> f32 {
  %r:2 = sparse_autograd.vjp @widened(%x) cotangents(%ct) {wrt = [0]} : (f32), (f64) -> (f64, f32)
  return %r#1 : f32
}
