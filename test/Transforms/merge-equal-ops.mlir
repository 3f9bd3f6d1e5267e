// Common subexpressions, with regions (lib/Transforms/MergeEqualOps.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-merge-equal-ops | FileCheck %s
// CHECK-LABEL: func @equal
// CHECK-SAME: (%[[X:.+]]: f32, %[[Y:.+]]: f32, %[[C:.+]]: i1)
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK-NEXT: %[[OTHER:.+]] = arith.addf %[[Y]], %[[X]] fastmath<fast>
// CHECK-NEXT: %[[IF:.+]] = scf.if %[[C]]
// CHECK-NOT:  scf.if
// CHECK:      %[[A:.+]] = arith.mulf %[[SUM]], %[[SUM]]
// CHECK:      %[[B:.+]] = arith.mulf %[[IF]], %[[IF]]
// CHECK:      return %[[A]], %[[B]], %[[OTHER]], %[[SUM]]
func.func @equal(%x: f32, %y: f32, %c: i1) -> (f32, f32, f32, f32) {
  %0 = arith.addf %x, %y : f32
  %1 = arith.addf %x, %y : f32
  %2 = arith.addf %y, %x {fastmath = #arith.fastmath<fast>} : f32
  %3 = scf.if %c -> f32 {
    %a = math.exp %x : f32
    scf.yield %a : f32
  } else {
    scf.yield %y : f32
  }
  %4 = scf.if %c -> f32 {
    %a = math.exp %x : f32
    scf.yield %a : f32
  } else {
    scf.yield %y : f32
  }
  %5 = arith.mulf %0, %1 : f32
  %6 = arith.mulf %3, %4 : f32
  return %5, %6, %2, %1 : f32, f32, f32, f32
}
