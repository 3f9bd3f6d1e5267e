// RUN: sparse-opt %s --sparse-autograd-outline-parallel | FileCheck %s

// A parallel loop becomes a function of a range. Buffers are pointers, with what their types leave open.

// CHECK-LABEL: func.func @loop
// CHECK-SAME:  %[[M:.*]]: memref<?xf32>, %[[N:.*]]: index
// CHECK:       %[[BASE:.+]], %{{.+}}, %[[SIZE:.+]], %{{.+}} = memref.extract_strided_metadata %[[M]]
// CHECK:       call @loop.parallel.0(%{{.*}}, %{{.*}}, %[[BASE]], %[[SIZE]]) {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       func.func private @loop.parallel.0(%[[BEGIN:[^:]+]]: index, %[[END:[^:]+]]: index, %[[POINTER:[^:]+]]: memref<f32> {llvm.noalias}, %[[INNER_SIZE:[^:]+]]: index)
// CHECK-SAME:  llvm.bareptr
// CHECK:       %[[INNER:.+]] = memref.reinterpret_cast %[[POINTER]] to offset: [0], sizes: [%[[INNER_SIZE]]]
// CHECK:       scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:       memref.store %{{.*}}, %[[INNER]]
func.func @loop(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %x, %m[%i] : memref<?xf32>
  }
  return
}

// A buffer that is allocated here overlaps no other. Two arguments may.

// CHECK-LABEL: func.func private @overlaps.parallel.0
// CHECK-SAME:  %{{[^:]+}}: index, %{{[^:]+}}: index, %{{[^:]+}}: memref<4xf32>, %{{[^:]+}}: memref<4xf32>, %{{[^:]+}}: memref<4xf32> {llvm.noalias})
func.func @overlaps(%a: memref<4xf32>, %b: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %own = memref.alloc() : memref<4xf32>
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    %x = memref.load %a[%i] : memref<4xf32>
    memref.store %x, %b[%i] : memref<4xf32>
    memref.store %x, %own[%i] : memref<4xf32>
  }
  return %own : memref<4xf32>
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
