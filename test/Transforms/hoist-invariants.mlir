// What does not depend on all loops is computed before (lib/Transforms/HoistInvariants.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-hoist-invariants | FileCheck %s
#row = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @factor
// CHECK-SAME: (%[[V:.+]]: tensor<4xf32>, %[[W:.+]]: tensor<4xf32>, %
// CHECK:      %[[PRODUCT:.+]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[V]], %[[W]] :
// CHECK:        arith.mulf
// CHECK:      linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins({{.*}}%[[PRODUCT]] :
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT:  arith.mulf
func.func @factor(%v: tensor<4xf32>, %w: tensor<4xf32>, %y: tensor<4x8xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#row, #row, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%v, %w, %y : tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %p, %c : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
