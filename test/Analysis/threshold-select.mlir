// Comparisons that another number tells as well (lib/Analysis/ThresholdSelect.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-threshold-select -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      above: none
// CHECK-NEXT: relu: above
// CHECK-NEXT: swapped: none
// CHECK-NEXT: sum: none
func.func @relu(%x: f32, %t: f32) -> (f32, f32, f32) {
  %above = arith.cmpf ogt, %x, %t {tag = "above"} : f32
  %relu = arith.select %above, %x, %t {tag = "relu"} : f32
  %swapped = arith.select %above, %t, %x {tag = "swapped"} : f32
  %sum = arith.addf %x, %t {tag = "sum"} : f32
  return %relu, %swapped, %sum : f32, f32, f32
}
