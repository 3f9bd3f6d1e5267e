// RUN: sparse-opt %s --sparse-autograd-differentiate --canonicalize --cse | FileCheck %s

// The constants that a cotangent is multiplied by are multiplied first, where
// that is exact. What the program computes stays as it is.

// CHECK-LABEL: func.func private @opposite__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32, %[[CT:[a-z0-9]+]]: f32
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG: %[[HALF:.*]] = arith.constant -5.0
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[TWO]]
// CHECK: %[[S:.*]] = math.sin %[[P]]
// CHECK: %[[Q:.*]] = arith.mulf %[[S]], %[[HALF]]
// CHECK: %[[C:.*]] = math.cos %[[P]]
// CHECK-NOT: arith.mulf %{{.*}}, %[[HALF]]
// CHECK-NOT: arith.mulf %{{.*}}, %[[TWO]]
// CHECK: arith.negf
// CHECK-NOT: arith.constant
// CHECK: return %[[Q]], %{{.*}}
func.func private @opposite(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %half = arith.constant -0.5 : f32
  %p = arith.mulf %x, %two : f32
  %s = math.sin %p : f32
  %q = arith.mulf %s, %half : f32
  return %q : f32
}
func.func @opposite_vjp(%x: f32, %ct: f32) -> f32 {
  %r:2 = sparse_autograd.vjp @opposite(%x) cotangents(%ct) {wrt = [0]} : (f32), (f32) -> (f32, f32)
  return %r#1 : f32
}

// A product that is one is no multiplication.

// CHECK-LABEL: func.func private @inverse__vjp_0(
// CHECK-SAME: %{{[a-z0-9]+}}: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK: %[[C:.*]] = math.cos
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[CT]], %[[C]]
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @inverse(%x: f64) -> f64 {
  %four = arith.constant 4.0 : f64
  %quarter = arith.constant 0.25 : f64
  %p = arith.mulf %x, %four : f64
  %s = math.sin %p : f64
  %q = arith.mulf %s, %quarter : f64
  return %q : f64
}
func.func @inverse_vjp(%x: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @inverse(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// The cotangent of a loss is a constant itself.

// CHECK-LABEL: func.func private @loss__value_and_grad_0(
// CHECK: %[[RATE:.*]] = arith.constant 2.5
// CHECK: %[[C:.*]] = math.cos
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[C]], %[[RATE]]
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @loss(%x: f32) -> f32 {
  %rate = arith.constant 2.5e-4 : f32
  %s = math.sin %x : f32
  %p = arith.mulf %rate, %s : f32
  return %p : f32
}
func.func @loss_grad(%x: f32) -> (f32, f32) {
  %r:2 = sparse_autograd.value_and_grad @loss(%x) {wrt = [0]} : (f32) -> (f32, f32)
  return %r#0, %r#1 : f32, f32
}

// 0.1 times 3 would be rounded.

// CHECK-LABEL: func.func private @rounded__vjp_0(
// CHECK-DAG: %[[TENTH:.*]] = arith.constant 1.0{{0*}}{{[eE]}}-01
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3.0
// CHECK: math.cos
// CHECK-DAG: arith.mulf %{{.*}}, %[[TENTH]]
// CHECK-DAG: arith.mulf %{{.*}}, %[[THREE]]
// CHECK: return
func.func private @rounded(%x: f64) -> f64 {
  %three = arith.constant 3.0 : f64
  %tenth = arith.constant 0.1 : f64
  %p = arith.mulf %x, %three : f64
  %s = math.sin %p : f64
  %q = arith.mulf %s, %tenth : f64
  return %q : f64
}
func.func @rounded_vjp(%x: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @rounded(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// Nor is the product of large constants finite: of what is small it is.

// CHECK-LABEL: func.func private @large__vjp_0(
// CHECK-DAG: %[[LARGE:.*]] = arith.constant 1.26765{{.*}}+30
// CHECK: math.cos
// CHECK: arith.mulf %{{.*}}, %[[LARGE]]
// CHECK: arith.mulf %{{.*}}, %[[LARGE]]
// CHECK: return
func.func private @large(%x: f32) -> f32 {
  %large = arith.constant 0x71800000 : f32
  %p = arith.mulf %x, %large : f32
  %s = math.sin %p : f32
  %q = arith.mulf %s, %large : f32
  return %q : f32
}
func.func @large_vjp(%x: f32, %ct: f32) -> f32 {
  %r:2 = sparse_autograd.vjp @large(%x) cotangents(%ct) {wrt = [0]} : (f32), (f32) -> (f32, f32)
  return %r#1 : f32
}

// In f16 each product is rounded.

// CHECK-LABEL: func.func private @half__vjp_0(
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG: %[[HALF:.*]] = arith.constant -5.0
// CHECK: math.cos
// CHECK-DAG: arith.mulf %{{.*}}, %[[HALF]]
// CHECK-DAG: arith.mulf %{{.*}}, %[[TWO]]
// CHECK: return
func.func private @half(%x: f16) -> f16 {
  %two = arith.constant 2.0 : f16
  %half = arith.constant -0.5 : f16
  %p = arith.mulf %x, %two : f16
  %s = math.sin %p : f16
  %q = arith.mulf %s, %half : f16
  return %q : f16
}
func.func @half_vjp(%x: f16, %ct: f16) -> f16 {
  %r:2 = sparse_autograd.vjp @half(%x) cotangents(%ct) {wrt = [0]} : (f16), (f16) -> (f16, f16)
  return %r#1 : f16
}

// The 2 of a square goes where the cotangent is one of a row: the rows are
// multiplied by 3 at once, not each element by 2.

// CHECK-LABEL: func.func private @squares__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[CT:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[THREE:.*]] = arith.constant 3.0
// CHECK: %[[K:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[CT]] :
// CHECK-NEXT: ^bb0(%[[G:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[G]], %[[THREE]]
// CHECK-NEXT: linalg.yield %[[P]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[K]] :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[F:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[F]], %[[A]]
// CHECK-NEXT: linalg.yield %[[D]]
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#line = affine_map<(i) -> (i)>
func.func private @squares(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %factor = arith.constant 1.5 : f32
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %a, %a : f32
    %t = arith.addf %out, %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %a, %factor : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @squares_vjp(%x: tensor<4x8xf32>, %ct: tensor<4xf32>) -> tensor<4x8xf32> {
  %r:2 = sparse_autograd.vjp @squares(%x) cotangents(%ct) {wrt = [0]} : (tensor<4x8xf32>), (tensor<4xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  return %r#1 : tensor<4x8xf32>
}
