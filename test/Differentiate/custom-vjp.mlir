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

// What a mask leaves out behind the call, its backward function does not see, nor
// what computes its argument (G2).
func.func private @root(%x: tensor<4xf64>) -> tensor<4xf64> {
  %y = math.sqrt %x : tensor<4xf64>
  return %y : tensor<4xf64>
}
func.func private @root_forward(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %y = math.sqrt %x : tensor<4xf64>
  return %y, %y : tensor<4xf64>, tensor<4xf64>
}
func.func private @root_backward(%y: tensor<4xf64>, %ct: tensor<4xf64>) -> tensor<4xf64> {
  %two = arith.constant dense<2.0> : tensor<4xf64>
  %d = arith.mulf %two, %y : tensor<4xf64>
  %dx = arith.divf %ct, %d : tensor<4xf64>
  return %dx : tensor<4xf64>
}
func.func private @masked(%x: tensor<4xf64>, %m: tensor<4xi1>) -> tensor<f64> {
  %l = math.log %x : tensor<4xf64>
  %y = sparse_autograd.custom_vjp @root(%l) forward(@root_forward) backward(@root_backward) : (tensor<4xf64>) -> tensor<4xf64>
  %s = sparse_autograd.masked_reduce sum %y, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  return %s : tensor<f64>
}
// CHECK-LABEL: func.func @reverse_masked
// CHECK-SAME: %[[X:.*]]: tensor<4xf64>, %[[M:.*]]: tensor<4xi1>
// CHECK: %[[DL:.*]] = linalg.generic {{.*}}%[[M]] : tensor<4xf64>, tensor<4xf64>, tensor<4xi1>)
// CHECK: arith.divf
// CHECK: arith.select
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[DL]], %[[M]] : tensor<4xf64>, tensor<4xf64>, tensor<4xi1>)
// CHECK: arith.select
// CHECK: return %[[DX]]
func.func @reverse_masked(%x: tensor<4xf64>, %m: tensor<4xi1>) -> tensor<4xf64> {
  %l, %dx = sparse_autograd.value_and_grad @masked(%x, %m) {wrt = [0]} : (tensor<4xf64>, tensor<4xi1>) -> (tensor<f64>, tensor<4xf64>)
  return %dx : tensor<4xf64>
}

// One that is not linear, as one that clips, is called as it is. So is one without
// rules.
func.func private @id(%x: f64) -> f64 {
  return %x : f64
}
func.func private @clip(%ct: f64) -> f64 {
  %one = arith.constant 1.0 : f64
  %dx = arith.minimumf %ct, %one : f64
  return %dx : f64
}
func.func private @clipped(%x: f64) -> f64 {
  %y = sparse_autograd.custom_vjp @id(%x) forward(@id) backward(@clip) : (f64) -> f64
  return %y : f64
}
// CHECK-LABEL: func.func @reverse_clipped
// CHECK-SAME: %{{.*}}: f64, %[[CT:.*]]: f64
// CHECK: %[[DX:.*]] = arith.minimumf %[[CT]], %{{.*}}
// CHECK: return %[[DX]]
func.func @reverse_clipped(%x: f64, %ct: f64) -> f64 {
  %y, %dx = sparse_autograd.vjp @clipped(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %dx : f64
}
func.func private @elsewhere(f64) -> f64
func.func private @opaque(%ct: f64) -> f64 {
  %dx = func.call @elsewhere(%ct) : (f64) -> f64
  return %dx : f64
}
func.func private @of_opaque(%x: f64) -> f64 {
  %y = sparse_autograd.custom_vjp @id(%x) forward(@id) backward(@opaque) : (f64) -> f64
  return %y : f64
}
// CHECK-LABEL: func.func @reverse_opaque
// CHECK-SAME: %{{.*}}: f64, %[[CT:.*]]: f64
// CHECK: %[[DX:.*]] = call @elsewhere(%[[CT]])
// CHECK: return %[[DX]]
func.func @reverse_opaque(%x: f64, %ct: f64) -> f64 {
  %y, %dx = sparse_autograd.vjp @of_opaque(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %dx : f64
}

// The control flow of a backward function may depend on what is kept, but not on
// the cotangent.
func.func private @branch(%c: i1, %ct: f64) -> f64 {
  %dx = scf.if %c -> f64 {
    %n = arith.negf %ct : f64
    scf.yield %n : f64
  } else {
    scf.yield %ct : f64
  }
  return %dx : f64
}
func.func private @branch_forward(%x: f64) -> (f64, i1) {
  %zero = arith.constant 0.0 : f64
  %c = arith.cmpf olt, %x, %zero : f64
  return %x, %c : f64, i1
}
func.func private @sign(%ct: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %c = arith.cmpf olt, %ct, %zero : f64
  %dx = func.call @branch(%c, %ct) : (i1, f64) -> f64
  return %dx : f64
}
func.func private @branches(%x: f64) -> f64 {
  %y = sparse_autograd.custom_vjp @id(%x) forward(@branch_forward) backward(@branch) : (f64) -> f64
  %z = sparse_autograd.custom_vjp @id(%y) forward(@id) backward(@sign) : (f64) -> f64
  return %z : f64
}
// CHECK-LABEL: func.func @reverse_branches
// CHECK-SAME: %[[X:.*]]: f64, %[[CT:.*]]: f64
// CHECK: %[[KEPT:.*]] = arith.cmpf olt, %[[X]]
// CHECK: %[[NEGATIVE:.*]] = arith.cmpf olt, %[[CT]]
// CHECK: %[[DY:.*]] = scf.if %[[NEGATIVE]]
// CHECK: %[[DX:.*]] = scf.if %[[KEPT]]
// CHECK-NEXT: arith.negf %[[DY]]
// CHECK: return %[[DX]]
func.func @reverse_branches(%x: f64, %ct: f64) -> f64 {
  %y, %dx = sparse_autograd.vjp @branches(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %dx : f64
}

// One that is its own derivative is called as it is there.
func.func private @own(%ct: f64) -> f64 {
  %dx = sparse_autograd.custom_vjp @id(%ct) forward(@id) backward(@own) : (f64) -> f64
  return %dx : f64
}
func.func private @of_own(%x: f64) -> f64 {
  %y = sparse_autograd.custom_vjp @id(%x) forward(@id) backward(@own) : (f64) -> f64
  return %y : f64
}
// CHECK-LABEL: func.func @reverse_own
// CHECK-SAME: %{{.*}}: f64, %[[CT:.*]]: f64
// CHECK-NEXT: return %[[CT]]
func.func @reverse_own(%x: f64, %ct: f64) -> f64 {
  %y, %dx = sparse_autograd.vjp @of_own(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %dx : f64
}
