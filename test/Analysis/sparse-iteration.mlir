// What an op must visit: where a factor is stored, where a term is, or everything
// (lib/Analysis/SparseIteration.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-sparse-iteration -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      product: [stored #0 #1], base absent
// CHECK-NEXT: sum: [stored #0] [stored #1, missing #0], base absent
// CHECK-NEXT: dense term: [stored #0], base #1
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

#id = affine_map<(i, j) -> (i, j)>
func.func @visits(%x: tensor<4x4xf64, #CSR>, %y: tensor<4x4xf64, #CSR>, %d: tensor<4x4xf64>, %out: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>) {
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"], tag = "product"}
      ins(%x, %y : tensor<4x4xf64, #CSR>, tensor<4x4xf64, #CSR>) outs(%out : tensor<4x4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"], tag = "sum"}
      ins(%x, %y : tensor<4x4xf64, #CSR>, tensor<4x4xf64, #CSR>) outs(%out : tensor<4x4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.addf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"], tag = "dense term"}
      ins(%x, %d : tensor<4x4xf64, #CSR>, tensor<4x4xf64>) outs(%out : tensor<4x4xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.addf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64>
  return %0, %1, %2 : tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>
}
