// What a body adds to which base, and times which number from outside
// (lib/Analysis/ProductBody.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-product-body -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      product: #2 + arith.mulf
// CHECK-NEXT: difference: #2 - arith.mulf
// CHECK-NEXT: scaled: #2 + arg3 * arith.mulf
// CHECK-NEXT: no product: no sum
#id = affine_map<(i) -> (i)>
func.func @bodies(%x: tensor<4xf64>, %y: tensor<4xf64>, %out: tensor<4xf64>, %s: f64) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], tag = "product"}
      ins(%x, %y : tensor<4xf64>, tensor<4xf64>) outs(%out : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %r = arith.addf %o, %p : f64
    linalg.yield %r : f64
  } -> tensor<4xf64>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], tag = "difference"}
      ins(%x, %y : tensor<4xf64>, tensor<4xf64>) outs(%out : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %r = arith.subf %o, %p : f64
    linalg.yield %r : f64
  } -> tensor<4xf64>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], tag = "scaled"}
      ins(%x, %y : tensor<4xf64>, tensor<4xf64>) outs(%out : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %q = arith.mulf %s, %p : f64
    %r = arith.addf %q, %o : f64
    linalg.yield %r : f64
  } -> tensor<4xf64>
  %3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"], tag = "no product"}
      ins(%x, %y : tensor<4xf64>, tensor<4xf64>) outs(%out : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %r = arith.mulf %o, %b : f64
    linalg.yield %r : f64
  } -> tensor<4xf64>
  return %0, %1, %2, %3 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}
