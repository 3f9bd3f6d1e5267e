// Operands, and what regions capture, each once and in order
// (lib/Analysis/ReadValues.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-read-values -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      zero:, in 0 places
// CHECK-NEXT: one:, in 0 places
// CHECK-NEXT: loop: zero arg0 one arg1 arg2, in 5 places
// CHECK-NEXT: product: loop.arg1 arg2, in 2 places
// CHECK-NEXT: sum: product arg2, in 2 places
func.func @reads(%n: index, %x: f32, %y: f32) -> f32 {
  %c0 = arith.constant {tag = "zero"} 0 : index
  %c1 = arith.constant {tag = "one"} 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> f32 {
    %p = arith.mulf %s, %y {tag = "product"} : f32
    %q = arith.addf %p, %y {tag = "sum"} : f32
    scf.yield %q : f32
  } {tag = "loop"}
  return %0 : f32
}
