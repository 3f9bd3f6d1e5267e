// RUN: sparse-opt %s --sparse-autograd-differentiate --inline --canonicalize --cse | FileCheck %s

// The derivative is the user's (M4), here twice what it should be.
func.func private @square(%x: f64, %n: i32) -> (f64, i32) {
  %y = arith.mulf %x, %x : f64
  return %y, %n : f64, i32
}
func.func private @square_forward(%x: f64, %n: i32) -> (f64, i32, f64) {
  %y = math.powf %x, %x : f64
  %slope = math.exp %x : f64
  return %y, %n, %slope : f64, i32, f64
}
func.func private @square_backward(%slope: f64, %ct: f64) -> f64 {
  %dx = arith.divf %ct, %slope : f64
  return %dx : f64
}
func.func private @f(%x: f64, %n: i32) -> (f64, i32) {
  %y:2 = sparse_autograd.custom_vjp @square(%x, %n) forward(@square_forward) backward(@square_backward)
      : (f64, i32) -> (f64, i32)
  return %y#0, %y#1 : f64, i32
}

// CHECK-LABEL: func.func @reverse
// CHECK-SAME: %[[X:.*]]: f64, %[[N:.*]]: i32, %[[CT:.*]]: f64
// CHECK-DAG: %[[Y:.*]] = math.powf %[[X]], %[[X]]
// CHECK-DAG: %[[SLOPE:.*]] = math.exp %[[X]]
// CHECK: %[[DX:.*]] = arith.divf %[[CT]], %[[SLOPE]]
// CHECK: return %[[Y]], %[[N]], %[[DX]]
func.func @reverse(%x: f64, %n: i32, %ct: f64) -> (f64, i32, f64) {
  %r:3 = sparse_autograd.vjp @f(%x, %n) cotangents(%ct) {wrt = [0]} : (f64, i32), (f64) -> (f64, i32, f64)
  return %r#0, %r#1, %r#2 : f64, i32, f64
}

// Forward mode is the transpose of the backward function.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[X:.*]]: f64, %{{.*}}: i32, %[[T:.*]]: f64
// CHECK-DAG: %[[Y:.*]] = math.powf %[[X]], %[[X]]
// CHECK-DAG: %[[SLOPE:.*]] = math.exp %[[X]]
// CHECK: %[[TY:.*]] = arith.divf %[[T]], %[[SLOPE]]
// CHECK: return %[[Y]], %[[TY]]
func.func @forward(%x: f64, %n: i32, %t: f64) -> (f64, f64) {
  %r:3 = sparse_autograd.jvp @f(%x, %n) tangents(%t) {wrt = [0]} : (f64, i32), (f64) -> (f64, i32, f64)
  return %r#0, %r#2 : f64, f64
}

// Where nothing is differentiated, the callee is called.
// CHECK-LABEL: func.func @value
// CHECK: arith.mulf
// CHECK-NOT: math.
func.func @value(%x: f64, %n: i32) -> f64 {
  %y:2 = sparse_autograd.custom_vjp @square(%x, %n) forward(@square_forward) backward(@square_backward)
      : (f64, i32) -> (f64, i32)
  return %y#0 : f64
}

// Where something is, it is not: nor are its effects.
func.func private @checked_square(%x: f64, %n: i32) -> (f64, i32) {
  %zero = arith.constant 0.0 : f64
  %c = arith.cmpf oge, %x, %zero : f64
  cf.assert %c, "negative"
  %y = arith.mulf %x, %x : f64
  return %y, %n : f64, i32
}
func.func private @checked(%x: f64, %n: i32) -> f64 {
  %y:2 = sparse_autograd.custom_vjp @checked_square(%x, %n) forward(@square_forward) backward(@square_backward)
      : (f64, i32) -> (f64, i32)
  return %y#0 : f64
}
// CHECK-LABEL: func.func @both_modes
// CHECK-NOT: cf.assert
// CHECK: arith.divf
// CHECK-NOT: cf.assert
// CHECK: arith.divf
// CHECK-NOT: cf.assert
// CHECK: return
func.func @both_modes(%x: f64, %n: i32, %t: f64) -> (f64, f64) {
  %r:2 = sparse_autograd.value_and_grad @checked(%x, %n) {wrt = [0]} : (f64, i32) -> (f64, f64)
  %s:2 = sparse_autograd.jvp @checked(%x, %n) tangents(%t) {wrt = [0]} : (f64, i32), (f64) -> (f64, f64)
  return %r#1, %s#1 : f64, f64
}

// The transpose of a linear function, asked for.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %[[A:.*]]: f64, %{{.*}}: f64, %[[C:.*]]: f64
// CHECK: %[[R:.*]] = arith.divf %[[C]], %[[A]]
// CHECK: return %[[R]]
func.func @transposed(%a: f64, %like: f64, %c: f64) -> f64 {
  %r = sparse_autograd.linear_transpose @square_backward(%a, %like) cotangents(%c) {wrt = [1]}
      : (f64, f64), (f64) -> (f64)
  return %r : f64
}
