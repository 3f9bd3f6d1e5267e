// Elementwise ops on constants of one element (lib/Transforms/FoldConstants.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-fold-constants | FileCheck %s
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func @reciprocal
// CHECK:      %[[VALUE:.+]] = arith.constant 1.250000e-01
// CHECK:      linalg.fill ins(%[[VALUE]] : f32)
// CHECK-NOT:  linalg.generic
func.func @reciprocal(%out: tensor<4xf32>) -> tensor<4xf32> {
  %n = arith.constant dense<8.0> : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%n : tensor<4xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %q = arith.divf %one, %a : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func @sum
// CHECK:      linalg.generic
func.func @sum(%out: tensor<f32>) -> tensor<f32> {
  %n = arith.constant dense<8.0> : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%n : tensor<4xf32>) outs(%out : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.addf %o, %a : f32
    linalg.yield %q : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
