// RUN: sparse-opt %s --sparse-autograd-inline=limit=12 | FileCheck %s

// A function with one call is inlined whatever its size; one with several as
// long as the caller stays small, and is called beyond that.

// CHECK-LABEL: func.func @once
// CHECK-NOT:   call @long
// CHECK:       return
func.func @once(%x: f64) -> f64 {
  %y = call @long(%x) : (f64) -> f64
  return %y : f64
}
func.func private @long(%x: f64) -> f64 {
  %0 = math.sin %x : f64
  %1 = math.cos %0 : f64
  %2 = math.sin %1 : f64
  %3 = math.cos %2 : f64
  %4 = math.sin %3 : f64
  %5 = math.cos %4 : f64
  %6 = math.sin %5 : f64
  %7 = math.cos %6 : f64
  %8 = math.sin %7 : f64
  %9 = math.cos %8 : f64
  %10 = math.sin %9 : f64
  return %10 : f64
}
// CHECK-LABEL: func.func @often
// CHECK:       math.tanh
// CHECK:       call @short
// CHECK:       call @short
func.func @often(%x: f64) -> f64 {
  %0 = call @short(%x) : (f64) -> f64
  %1 = call @short(%0) : (f64) -> f64
  %2 = call @short(%1) : (f64) -> f64
  %3 = call @short(%2) : (f64) -> f64
  return %3 : f64
}
func.func private @short(%x: f64) -> f64 {
  %0 = math.tanh %x : f64
  %1 = math.exp %0 : f64
  %2 = math.tanh %1 : f64
  return %2 : f64
}
