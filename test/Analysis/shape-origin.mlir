// Where extents come from (lib/Analysis/ShapeOrigin.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-shape-origin -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      sum: like arg0, extents ? 4, as arg0
// CHECK-NEXT: negated: like sum, extents ? 4, as arg0
// CHECK-NEXT: cast: like arg4, extents 3 4
// CHECK-NEXT: new: like none, extents ? 4
// CHECK-NEXT: select: chooses, like none, extents ? 4
// CHECK-NEXT: loop: like none, extents ? 4, as arg0, extent 0 kept
// CHECK-NEXT: changing loop: like none, extents ? 4, extent 0 not kept
func.func @extents(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %n: index, %b: i1, %s: tensor<3x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = arith.addf %x, %y {tag = "sum"} : tensor<?x4xf32>
  %negated = arith.negf %sum {tag = "negated"} : tensor<?x4xf32>
  %cast = tensor.cast %s {tag = "cast"} : tensor<3x4xf32> to tensor<?x4xf32>
  %new = tensor.empty(%n) {tag = "new"} : tensor<?x4xf32>
  %either = arith.select %b, %x, %cast {tag = "select"} : tensor<?x4xf32>
  %kept = scf.for %i = %c0 to %n step %c1 iter_args(%it = %x) -> (tensor<?x4xf32>) {
    %next = arith.negf %it : tensor<?x4xf32>
    scf.yield %next : tensor<?x4xf32>
  } {tag = "loop"}
  %changed = scf.for %i = %c0 to %n step %c1 iter_args(%it = %x) -> (tensor<?x4xf32>) {
    scf.yield %new : tensor<?x4xf32>
  } {tag = "changing loop"}
  return %changed : tensor<?x4xf32>
}
