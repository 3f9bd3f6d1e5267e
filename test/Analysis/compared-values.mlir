// Ops that an equality depends on, and those that must be computed once for it
// (lib/Analysis/ComparedValues.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-compared-values -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      compared exponential: compared, once
// CHECK-NEXT: compared difference: compared
// CHECK-NEXT: ordered exponential: not compared
// CHECK-NEXT: free exponential: not compared
// CHECK-NEXT: compared sum: compared
// CHECK-NEXT: equality: compared
// CHECK-NEXT: order: not compared
func.func @ties(%x: f32, %max: f32, %y: f32) -> (i1, i1, f32) {
  %exp = math.exp %x {tag = "compared exponential"} : f32
  %difference = arith.subf %x, %y {tag = "compared difference"} : f32
  %other = math.exp %y {tag = "ordered exponential"} : f32
  %free = math.exp %max {tag = "free exponential"} : f32
  %sum = arith.addf %exp, %difference {tag = "compared sum"} : f32
  %tie = arith.cmpf oeq, %sum, %max {tag = "equality"} : f32
  %less = arith.cmpf olt, %other, %max {tag = "order"} : f32
  return %tie, %less, %free : i1, i1, f32
}
