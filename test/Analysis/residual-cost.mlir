// What it costs to execute an op again, and the bytes of what it gives; an extent
// that is not known counts as 64 (lib/Analysis/ResidualCost.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-residual-cost -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      exponential of 100: 1600 additions, 400 bytes
// CHECK-NEXT: sum of ?: 64 additions, 512 bytes
// CHECK-NEXT: empty: 0 additions, 400 bytes
// CHECK-NEXT: structured: 200 additions, 400 bytes
// CHECK-NEXT: 10 iterations: 10 additions, 4 bytes
// CHECK-NEXT: ? iterations: 64 additions, 4 bytes
// CHECK-NEXT: store: must be executed once
#id = affine_map<(i) -> (i)>
func.func @costs(%x: tensor<100xf32>, %d: tensor<?xf64>, %n: index, %m: memref<f32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %f = arith.constant 0.0 : f32
  %exp = math.exp %x {tag = "exponential of 100"} : tensor<100xf32>
  %dyn = arith.addf %d, %d {tag = "sum of ?"} : tensor<?xf64>
  %empty = tensor.empty() {tag = "empty"} : tensor<100xf32>
  %op = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"], tag = "structured"}
      ins(%x : tensor<100xf32>) outs(%empty : tensor<100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<100xf32>
  %ten = scf.for %i = %c0 to %c10 step %c1 iter_args(%s = %f) -> f32 {
    %t = arith.addf %s, %s : f32
    scf.yield %t : f32
  } {tag = "10 iterations"}
  %some = scf.for %i = %c0 to %n step %c1 iter_args(%s = %f) -> f32 {
    %t = arith.addf %s, %s : f32
    scf.yield %t : f32
  } {tag = "? iterations"}
  memref.store %ten, %m[] {tag = "store"} : memref<f32>
  return %some : f32
}
