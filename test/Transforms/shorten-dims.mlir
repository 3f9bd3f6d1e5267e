// An extent is asked for where it comes from (lib/Transforms/ShortenDims.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-shorten-dims | FileCheck %s
// CHECK-LABEL: func @chain
// CHECK-SAME: (%[[X:.+]]: tensor<?xf32>, %[[N:.+]]: index)
// CHECK:      %[[DIM:.+]] = tensor.dim %[[X]]
// CHECK:      return %[[DIM]], %[[N]]
func.func @chain(%x: tensor<?xf32>, %n: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %a = arith.negf %x : tensor<?xf32>
  %b = math.exp %a : tensor<?xf32>
  %d = tensor.dim %b, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = math.exp %e : tensor<?xf32>
  %g = tensor.dim %f, %c0 : tensor<?xf32>
  return %d, %g : index, index
}
