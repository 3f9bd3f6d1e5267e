// Ops of math that LLVM has not (lib/Transforms/ExpandMath.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-expand-math | FileCheck %s
// CHECK-LABEL: func @clamp
// CHECK-SAME: (%[[X:.+]]: f32, %[[LOW:.+]]: f32, %[[HIGH:.+]]: f32)
// CHECK-NEXT: %[[BELOW:.+]] = arith.minimumf %[[X]], %[[HIGH]]
// CHECK-NEXT: arith.maximumf %[[BELOW]], %[[LOW]]
func.func @clamp(%x: f32, %low: f32, %high: f32) -> f32 {
  %0 = math.clampf %x to [%low, %high] : f32
  return %0 : f32
}
// CHECK-LABEL: func @infinite
// CHECK:      %[[MAGNITUDE:.+]] = math.absf
// CHECK:      %[[INFINITY:.+]] = arith.constant 0x7F800000
// CHECK:      arith.cmpf oeq, %[[MAGNITUDE]], %[[INFINITY]]
func.func @infinite(%x: f32) -> i1 {
  %0 = math.isinf %x : f32
  return %0 : i1
}
// CHECK-LABEL: func @normal
// CHECK:      %[[LEAST:.+]] = arith.constant 1.17549435E-38
// CHECK:      %[[ABOVE:.+]] = arith.cmpf oge, %{{.+}}, %[[LEAST]]
// CHECK:      %[[FINITE:.+]] = arith.cmpf olt
// CHECK:      arith.andi %[[ABOVE]], %[[FINITE]]
func.func @normal(%x: f32) -> i1 {
  %0 = math.isnormal %x : f32
  return %0 : i1
}
