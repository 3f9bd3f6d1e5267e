// Elementwise ops read what is broadcast itself (lib/Transforms/FoldBroadcasts.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-fold-broadcasts | FileCheck %s
#row = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @sum
// CHECK-SAME: (%[[V:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4x8xf32>, %
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[ROW:.+]], #[[ID:.+]], #[[ID]]], {{.*}} ins(%[[V]], %[[Y]] :
// CHECK-NOT:  linalg.generic
func.func @sum(%v: tensor<4xf32>, %y: tensor<4x8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %b = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<4xf32>) outs(%out : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%out : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
