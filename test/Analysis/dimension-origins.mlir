// Dimensions of one extent, by letters (lib/Analysis/DimensionOrigins.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-dimension-origins -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      @product
// CHECK-NEXT:   arg0: a b
// CHECK-NEXT:   arg1: b c
// CHECK-NEXT:   arg2: d e
// CHECK-NEXT:   empty: a c
// CHECK-NEXT:   product: a c
// CHECK-NEXT: @calls
// CHECK-NEXT:   arg0: a b
// CHECK-NEXT:   arg1: b c
// CHECK-NEXT:   arg2: d e
// CHECK-NEXT:   call: a c
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @product(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<8x8xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) {tag = "empty"} : tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], tag = "product"}
      ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
// Each call is of an instance of its own.
func.func @calls(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<8x8xf32>) -> tensor<?x?xf32> {
  %0 = call @product(%x, %y, %z) {tag = "call"} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<8x8xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
