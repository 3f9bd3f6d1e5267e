// Nested loops in place of a parallel one (lib/Transforms/MakeSequential.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-make-sequential | FileCheck %s
// CHECK-LABEL: func @loop
// CHECK-SAME: (%[[M:.+]]: memref<?x?xf32>, %[[N:.+]]: index, %[[K:.+]]: index)
// CHECK-DAG:  %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:  %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:  %[[C2:.+]] = arith.constant 2 : index
// CHECK:      %[[SUM:.+]] = scf.for %[[I:.+]] = %[[C0]] to %[[N]] step %[[C1]] iter_args(%[[S:.+]] = %{{.+}})
// CHECK:        scf.for %[[J:.+]] = %[[C1]] to %[[K]] step %[[C2]] iter_args(%[[T:.+]] = %[[S]])
// CHECK:          %[[X:.+]] = memref.load %[[M]][%[[I]], %[[J]]]
// CHECK:          %[[NEXT:.+]] = arith.addf %[[T]], %[[X]]
// CHECK:          scf.yield %[[NEXT]]
// CHECK:      return %[[SUM]]
func.func @loop(%m: memref<?x?xf32>, %n: index, %k: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %0 = scf.parallel (%i, %j) = (%c0, %c1) to (%n, %k) step (%c1, %c2) init (%z) -> f32 {
    %x = memref.load %m[%i, %j] : memref<?x?xf32>
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %0 : f32
}
