// Bounds of numbers by how they are computed (lib/Analysis/FloatRange.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-float-range -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      any: [-INF, INF], magnitude INF
// CHECK-NEXT: constant: [-3.000000e+00, -3.000000e+00], magnitude 3.000000e+00
// CHECK-NEXT: sine: [-1.000000e+00, 1.000000e+00], magnitude 1.000000e+00
// CHECK-NEXT: square: [0.000000e+00, INF], magnitude INF
// CHECK-NEXT: exponential: [0.000000e+00, INF], magnitude INF
// CHECK-NEXT: scaled: [-3.000000e+00, 3.000000e+00], magnitude 3.000000e+00
// CHECK-NEXT: sum: [-6.000000e+00, 0.000000e+00], magnitude 6.000000e+00
// CHECK-NEXT: negated: [-0.000000e+00, 6.000000e+00], magnitude 6.000000e+00
// CHECK-NEXT: larger: [-3.000000e+00, 6.000000e+00], magnitude 6.000000e+00
func.func @ranges(%x: f64, %y: f64) -> f64 {
  %any = arith.addf %x, %y {tag = "any"} : f64
  %c = arith.constant {tag = "constant"} -3.0 : f64
  %sine = math.sin %any {tag = "sine"} : f64
  %square = arith.mulf %any, %any {tag = "square"} : f64
  %exp = math.exp %any {tag = "exponential"} : f64
  %scaled = arith.mulf %sine, %c {tag = "scaled"} : f64
  %sum = arith.addf %scaled, %c {tag = "sum"} : f64
  %negated = arith.negf %sum {tag = "negated"} : f64
  %larger = arith.maximumf %negated, %c {tag = "larger"} : f64
  return %larger : f64
}
