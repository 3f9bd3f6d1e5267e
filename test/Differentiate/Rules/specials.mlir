// RUN: sparse-runner %s --entry=norm_with_nan | FileCheck %s --check-prefix=NORM
// RUN: sparse-runner %s --entry=infinite_cotangent | FileCheck %s --check-prefix=KINK
// RUN: sparse-runner %s --entry=bits | FileCheck %s --check-prefix=BITS

// The norm of a row with a NaN has no direction, of its zeros neither.

// NORM: [NaN, NaN]
func.func private @norm(%x: tensor<2xf64>) -> tensor<f64> {
  %n = sparse_autograd.masked_reduce norm2 %x dims = [0] : tensor<2xf64> -> tensor<f64>
  return %n : tensor<f64>
}
func.func @norm_with_nan() -> tensor<2xf64> {
  %x = arith.constant dense<[0.0, 0x7FF8000000000000]> : tensor<2xf64>
  %v, %dx = sparse_autograd.value_and_grad @norm(%x) {wrt = [0]} : (tensor<2xf64>) -> (tensor<f64>, tensor<2xf64>)
  return %dx : tensor<2xf64>
}

// A derivative that is zero at a kink selects a zero: times infinity it would be
// a NaN.

// KINK: [0, +Inf]
func.func private @magnitude(%x: tensor<2xf64>) -> tensor<2xf64> {
  %y = math.absf %x : tensor<2xf64>
  return %y : tensor<2xf64>
}
func.func @infinite_cotangent() -> tensor<2xf64> {
  %x = arith.constant dense<[0.0, 1.0]> : tensor<2xf64>
  %ct = arith.constant dense<0x7FF0000000000000> : tensor<2xf64>
  %y, %dx = sparse_autograd.vjp @magnitude(%x) cotangents(%ct) {wrt = [0]} : (tensor<2xf64>), (tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  return %dx : tensor<2xf64>
}

// What a while carries beside, and no derivative depends on, needs no rule.

// BITS: result0 = 8{{$}}
func.func private @doubled_while(%x: f32) -> f32 {
  %start = arith.constant 1.0 : f32
  %limit = arith.constant 0x40800000 : f32
  %r:2 = scf.while (%v = %x, %k = %start) : (f32, f32) -> (f32, f32) {
    %more = arith.cmpf olt, %k, %limit : f32
    scf.condition(%more) %v, %k : f32, f32
  } do {
  ^bb0(%v: f32, %k: f32):
    %w = arith.addf %v, %v : f32
    %bits = arith.bitcast %k : f32 to i32
    %step = arith.constant 0x00800000 : i32
    %next_bits = arith.addi %bits, %step : i32
    %next = arith.bitcast %next_bits : i32 to f32
    scf.yield %w, %next : f32, f32
  }
  %t = arith.addf %r#0, %r#0 : f32
  return %t : f32
}
func.func @bits() -> f32 {
  %x = arith.constant 3.0 : f32
  %dx = arith.constant 1.0 : f32
  %y, %dy = sparse_autograd.jvp @doubled_while(%x) tangents(%dx) {wrt = [0]} : (f32), (f32) -> (f32, f32)
  return %dy : f32
}
