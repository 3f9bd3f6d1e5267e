// What a region computes where an operand is absent (lib/Analysis/ScalarTerms.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-scalar-terms -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      product: arith.addf(#2, arith.mulf(#0, #1))
// CHECK-NEXT:   without #0: #2
// CHECK-NEXT:   without #1: #2
// CHECK-NEXT:   without #2: arith.mulf(#0, #1)
// CHECK-NEXT: sum: arith.addf(math.exp(#0), #1)
// CHECK-NEXT:   without #0: arith.addf(1.000000e+00, #1)
// CHECK-NEXT:   without #1: math.exp(#0)
// CHECK-NEXT:   without #2: arith.addf(math.exp(#0), #1)
#id = affine_map<(i) -> (i)>
func.func @regions(%x: tensor<4xf64>, %y: tensor<4xf64>, %out: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], tag = "product"}
      ins(%x, %y : tensor<4xf64>, tensor<4xf64>) outs(%out : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %c = arith.constant 1.0 : f64
    %p = arith.mulf %a, %b : f64
    %q = arith.mulf %p, %c : f64
    %s = arith.addf %o, %q : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], tag = "sum"}
      ins(%x, %y : tensor<4xf64>, tensor<4xf64>) outs(%out : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %e = math.exp %a : f64
    %s = arith.addf %e, %b : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  return %0, %1 : tensor<4xf64>, tensor<4xf64>
}
