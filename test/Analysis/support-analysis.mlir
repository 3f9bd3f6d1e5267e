// Where values may differ from zero (lib/Analysis/SupportAnalysis.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-support-analysis -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      zeros: nowhere
// CHECK-NEXT: product: arg0 by (d0, d1) -> (d0, d1)
// CHECK-NEXT: selected: arg2 by (d0, d1) -> (d0)
// CHECK-NEXT: union: arg0 by (d0, d1) -> (d0, d1) arg2 by (d0, d1) -> (d0)
// CHECK-NEXT: exponential: everywhere
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @supports(%x: tensor<4x4xf64, #CSR>, %d: tensor<4x4xf64>, %m: tensor<4xi1>, %out: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %zero = arith.constant 0.0 : f64
  %zeros = linalg.fill {tag = "zeros"} ins(%zero : f64) outs(%out : tensor<4x4xf64>) -> tensor<4x4xf64>
  %product = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"], tag = "product"}
      ins(%x, %d : tensor<4x4xf64, #CSR>, tensor<4x4xf64>) outs(%out : tensor<4x4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64>
  %selected = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"], tag = "selected"}
      ins(%m, %d : tensor<4xi1>, tensor<4x4xf64>) outs(%out : tensor<4x4xf64>) {
  ^bb0(%c: i1, %b: f64, %o: f64):
    %p = arith.select %c, %b, %zero : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64>
  %union = arith.addf %product, %selected {tag = "union"} : tensor<4x4xf64>
  %all = math.exp %union {tag = "exponential"} : tensor<4x4xf64>
  return %all : tensor<4x4xf64>
}
