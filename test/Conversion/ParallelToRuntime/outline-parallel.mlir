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

// A buffer that each iteration takes and releases, of the same size, is one for
// all that a thread runs.

// CHECK-LABEL: func.func private @buffers.parallel.0
// CHECK-SAME:  %[[BEGIN:[^:]+]]: index, %[[END:[^:]+]]: index, %[[N:[^:]+]]: index
// CHECK:       %[[SHARED:.+]] = memref.alloc(%[[N]])
// CHECK:       scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
// CHECK:         %[[OWN:.+]] = memref.alloc(%{{.+}})
// CHECK:         memref.dealloc %[[OWN]]
// CHECK-NOT:     memref.dealloc
// CHECK:       }
// CHECK-NEXT:  memref.dealloc %[[SHARED]]
// CHECK-NEXT:  return
func.func @buffers(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %same = memref.alloc(%n) : memref<?xf32>
    %other = memref.alloc(%i) : memref<?xf32>
    %x = memref.load %m[%i] : memref<?xf32>
    memref.store %x, %same[%i] : memref<?xf32>
    memref.store %x, %other[%c0] : memref<?xf32>
    memref.dealloc %same : memref<?xf32>
    memref.dealloc %other : memref<?xf32>
  }
  return
}
