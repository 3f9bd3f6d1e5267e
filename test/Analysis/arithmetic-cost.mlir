// Costs of scalars in additions, and of a body (lib/Analysis/ArithmeticCost.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-arithmetic-cost -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      constant: 0
// CHECK-NEXT: sum: 1
// CHECK-NEXT: quotient: 4
// CHECK-NEXT: root: 4
// CHECK-NEXT: magnitude: 1
// CHECK-NEXT: power: 48
// CHECK-NEXT: exponential: 16
// CHECK-NEXT: access: 8
// CHECK-NEXT: op: 8, body 17
func.func @scalars(%x: f32, %y: f32, %t: tensor<4xf32>, %i: index) -> f32 {
  %c = arith.constant {tag = "constant"} 2.0 : f32
  %sum = arith.addf %x, %c {tag = "sum"} : f32
  %quotient = arith.divf %sum, %y {tag = "quotient"} : f32
  %root = math.sqrt %quotient {tag = "root"} : f32
  %magnitude = math.absf %root {tag = "magnitude"} : f32
  %power = math.powf %magnitude, %y {tag = "power"} : f32
  %exponential = math.exp %power {tag = "exponential"} : f32
  %element = tensor.extract %t[%i] {tag = "access"} : tensor<4xf32>
  %r = arith.addf %exponential, %element : f32
  return %r : f32
}

#id = affine_map<(i) -> (i)>
func.func @body(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], tag = "op"}
      ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    %s = arith.addf %e, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
