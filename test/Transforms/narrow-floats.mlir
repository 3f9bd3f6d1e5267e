// Arithmetic of f16 in f32, rounded where another op reads it (lib/Transforms/NarrowFloats.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-narrow-floats | FileCheck %s
// CHECK-LABEL: func @chain
// CHECK-SAME: (%[[X:.+]]: f16, %[[Y:.+]]: f16)
// CHECK-DAG:  %[[A:.+]] = arith.extf %[[X]] {{.*}}: f16 to f32
// CHECK-DAG:  %[[B:.+]] = arith.extf %[[Y]] {{.*}}: f16 to f32
// CHECK:      %[[SUM:.+]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT: %[[EXP:.+]] = math.exp %[[SUM]] : f32
// CHECK-NEXT: arith.truncf %[[EXP]] : f32 to f16
func.func @chain(%x: f16, %y: f16) -> f16 {
  %0 = arith.addf %x, %y : f16
  %1 = math.exp %0 : f16
  return %1 : f16
}
