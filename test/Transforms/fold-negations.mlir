// Sums of opposites are differences (lib/Transforms/FoldNegations.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-fold-negations | FileCheck %s
// CHECK-LABEL: func @sum
// CHECK-SAME: (%[[X:.+]]: f32, %[[Y:.+]]: f32)
// CHECK-NEXT: arith.subf %[[X]], %[[Y]]
// CHECK-NEXT: return
func.func @sum(%x: f32, %y: f32) -> f32 {
  %n = arith.negf %y : f32
  %0 = arith.addf %x, %n : f32
  return %0 : f32
}
// CHECK-LABEL: func @product
// CHECK-SAME: (%[[X:.+]]: f32, %[[Y:.+]]: f32, %[[Z:.+]]: f32)
// CHECK-NEXT: %[[P:.+]] = arith.mulf %[[Y]], %[[Z]]
// CHECK-NEXT: arith.subf %[[X]], %[[P]]
// CHECK-NEXT: return
func.func @product(%x: f32, %y: f32, %z: f32) -> f32 {
  %n = arith.negf %y : f32
  %p = arith.mulf %n, %z : f32
  %0 = arith.addf %x, %p : f32
  return %0 : f32
}
