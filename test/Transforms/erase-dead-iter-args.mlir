// Values that a loop carries and nothing reads (lib/Transforms/EraseDeadIterArgs.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-erase-dead-iter-args | FileCheck %s
// CHECK-LABEL: func @tape
// CHECK-SAME: (%[[X:.+]]: f64, %[[N:.+]]: index)
// CHECK:      %[[LOOP:.+]] = scf.for {{.*}} iter_args(%[[S:.+]] = %[[X]]) -> (f64) {
// CHECK-NEXT:   %[[EXP:.+]] = math.exp %[[S]]
// CHECK-NEXT:   scf.yield %[[EXP]] : f64
// CHECK:      return %[[LOOP]]
func.func @tape(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %x) -> (f64, f64) {
    %a = math.exp %s : f64
    %b = math.sin %t : f64
    scf.yield %a, %b : f64, f64
  }
  return %0#0 : f64
}
// What is carried for the other value stays.
// CHECK-LABEL: func @read
// CHECK:      scf.for {{.*}} -> (f64, f64) {
// CHECK:        math.sin
func.func @read(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %x) -> (f64, f64) {
    %a = arith.addf %s, %t : f64
    %b = math.sin %t : f64
    scf.yield %a, %b : f64, f64
  }
  return %0#0 : f64
}
// A loop that carries less has the schedule of the one before.
// CHECK-LABEL: func @schedule
// CHECK:      scf.for {{.*}} iter_args({{.*}}) -> (tensor<?xf64>) {
// CHECK:      } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
func.func @schedule(%x: tensor<?xf64>, %y: tensor<?xf64>, %v: f64, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %y) -> (tensor<?xf64>, tensor<?xf64>) {
    %a = tensor.insert %v into %s[%i] : tensor<?xf64>
    %b = tensor.insert %v into %t[%i] : tensor<?xf64>
    scf.yield %a, %b : tensor<?xf64>, tensor<?xf64>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  return %0#0 : tensor<?xf64>
}
