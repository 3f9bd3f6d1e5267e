// RUN: sparse-opt %s --sparse-autograd-merge-functions | FileCheck %s

// Equal private functions are one, and so are those that call them; a public
// function keeps its name, and another constant makes another function.

// CHECK-LABEL: func.func @main
// CHECK:       call @outer_a
// CHECK:       call @outer_a
// CHECK:       call @other
func.func @main(%x: f64) -> f64 {
  %a = call @outer_a(%x) : (f64) -> f64
  %b = call @outer_b(%a) : (f64) -> f64
  %c = call @other(%b) : (f64) -> f64
  return %c : f64
}
// CHECK:       func.func private @outer_a
// CHECK:         call @inner_a
// CHECK-NOT:   @outer_b
func.func private @outer_a(%x: f64) -> f64 {
  %y = call @inner_a(%x) : (f64) -> f64
  return %y : f64
}
func.func private @outer_b(%x: f64) -> f64 {
  %y = call @inner_b(%x) : (f64) -> f64
  return %y : f64
}
// CHECK:       func.func private @inner_a
func.func private @inner_a(%x: f64) -> f64 {
  %two = arith.constant 2.0 : f64
  %y = arith.mulf %x, %two : f64
  return %y : f64
}
// CHECK-NOT:   @inner_b
func.func private @inner_b(%z: f64) -> f64 {
  %two = arith.constant 2.0 : f64
  %y = arith.mulf %z, %two : f64
  return %y : f64
}
// CHECK:       func.func private @other
func.func private @other(%x: f64) -> f64 {
  %three = arith.constant 3.0 : f64
  %y = arith.mulf %x, %three : f64
  return %y : f64
}
// CHECK:       func.func @public
func.func @public(%x: f64) -> f64 {
  %two = arith.constant 2.0 : f64
  %y = arith.mulf %x, %two : f64
  return %y : f64
}
