// A product that is read at a pattern is sampled there (lib/Transforms/SampleFactors.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-sample-factors | FileCheck %s
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func @sddmm
// CHECK-SAME: (%[[A:[^:]+]]: tensor<8x8xf64, #{{.+}}>, %
// CHECK:      %[[PRODUCT:.+]] = linalg.matmul
// CHECK:      %[[SAMPLED:.+]] = sparse_autograd.sample %[[PRODUCT]], %[[A]]
// CHECK:      linalg.generic {{.*}} ins(%[[A]], %[[SAMPLED]] :
func.func @sddmm(%a: tensor<8x8xf64, #CSR>, %x: tensor<8x4xf64>, %y: tensor<4x8xf64>) -> tensor<8x8xf64, #CSR> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8x8xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<8x8xf64>) -> tensor<8x8xf64>
  %p = linalg.matmul ins(%x, %y : tensor<8x4xf64>, tensor<4x8xf64>) outs(%z : tensor<8x8xf64>) -> tensor<8x8xf64>
  %s = tensor.empty() : tensor<8x8xf64, #CSR>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %p : tensor<8x8xf64, #CSR>, tensor<8x8xf64>) outs(%s : tensor<8x8xf64, #CSR>) {
  ^bb0(%b: f64, %c: f64, %o: f64):
    %m = arith.mulf %b, %c : f64
    linalg.yield %m : f64
  } -> tensor<8x8xf64, #CSR>
  return %0 : tensor<8x8xf64, #CSR>
}
