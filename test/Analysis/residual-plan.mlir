// What is kept of a program, and what is computed again: an exponential of many
// elements is kept, a sum is not (lib/Analysis/ResidualPlan.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-residual-plan -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      @cheap: 400 bytes, kept sum, again
// CHECK-NEXT: @chain: 800 bytes, kept arg0 exponential, again sum
// CHECK-NEXT: @dear: 400 bytes, kept arg0, again exponential sum
// CHECK-NEXT: @compared: 12 bytes, kept arg0 arg1 exponential, again tie
func.func @cheap(%x: tensor<100xf32>) -> tensor<100xf32> {
  %s = arith.addf %x, %x {tag = "sum"} : tensor<100xf32>
  return %s : tensor<100xf32>
}
func.func @chain(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) attributes {cost = 1} {
  %e = math.exp %x {tag = "exponential"} : tensor<100xf32>
  %s = arith.addf %e, %e {tag = "sum"} : tensor<100xf32>
  return %x, %e, %s : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
}
// A byte is dear.
func.func @dear(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) attributes {cost = 1000} {
  %e = math.exp %x {tag = "exponential"} : tensor<100xf32>
  %s = arith.addf %e, %e {tag = "sum"} : tensor<100xf32>
  return %x, %e, %s : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
}
// What is compared for equality is computed once.
func.func @compared(%x: f32, %y: f32) -> (f32, f32, f32, i1) attributes {cost = 1000} {
  %e = math.exp %x {tag = "exponential"} : f32
  %c = arith.cmpf oeq, %e, %y {tag = "tie"} : f32
  return %x, %y, %e, %c : f32, f32, f32, i1
}
