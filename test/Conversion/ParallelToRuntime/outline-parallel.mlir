// RUN: sparse-opt %s --sparse-autograd-outline-parallel | FileCheck %s

// A loop that is marked becomes a function of a range, as an scf.parallel does.

// CHECK-LABEL: func.func @marked
// CHECK-SAME:  %[[M:.*]]: memref<?xf32>, %[[N:.*]]: index
// CHECK:       call @marked.parallel.0(%{{.*}}, %{{.*}}, %[[M]]) {sparse_autograd.parallel}
// CHECK:       func.func private @marked.parallel.0(%[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[INNER:.*]]: memref<?xf32>
// CHECK:       scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:       memref.store %{{.*}}, %[[INNER]]
func.func @marked(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %m[%i] : memref<?xf32>
  } {sparse_autograd.parallel}
  return
}

// One that carries something runs in its order.

// CHECK-LABEL: func.func @carries
// CHECK:       scf.for
// CHECK-NOT:   call
// CHECK:       return
func.func @carries(%m: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> f32 {
    %v = memref.load %m[%i] : memref<?xf32>
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  } {sparse_autograd.parallel}
  return %sum : f32
}
