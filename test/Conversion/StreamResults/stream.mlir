// RUN: sparse-opt %s --sparse-autograd-stream-results | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-stream-results=minimal-bytes=1024 | FileCheck %s --check-prefix=SMALL

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The rows of a result are computed in pieces on the stack, which the runtime
// sends past the caches.

// CHECK-LABEL: func.func @rows
//  CHECK-SAME:     %[[X:[^:]+]]: memref<?x?xf32>
//       CHECK:   %[[RESULT:.+]] = memref.alloc(
//       CHECK:   %[[TOTAL:.+]] = arith.index_cast %{{.+}} : index to i64
//       CHECK:   scf.forall (%[[I:.+]]) in
//       CHECK:     %[[BLOCK:.+]] = memref.subview %[[RESULT]][%[[I]], 0]
//       CHECK:     %[[PIECE:.+]] = memref.alloc() {alignment = 64 : i64} : memref<1x1024xf32>
//       CHECK:     scf.for
//       CHECK:       scf.for {{.*}} step %c1024
//       CHECK:         %[[ROW:.+]] = memref.subview %[[BLOCK]][
//       CHECK:         %[[PART:.+]] = memref.subview %[[PIECE]][0, 0]
//       CHECK:         linalg.generic {{.*}} outs(%[[PART]]
//       CHECK:         memref.extract_strided_metadata %[[ROW]]
//       CHECK:         memref.extract_strided_metadata %[[PART]]
//       CHECK:         call @sparseAutogradStream(%{{.+}}, %{{.+}}, %{{.+}}, %[[TOTAL]])
//   CHECK-NOT:     memref.copy
//       CHECK:   return %[[RESULT]]
func.func @rows(%x: memref<?x?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.forall (%i) in (%n) {
    %in = memref.subview %x[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %result[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %p = arith.mulf %a, %a : f32
      linalg.yield %p : f32
    }
    memref.copy %out, %out : memref<1x?xf32, strided<[?, 1], offset: ?>> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  }
  return %result : memref<?x?xf32>
}

// What the loop reads again stays where it is.

// CHECK-LABEL: func.func @read_again
//   CHECK-NOT:   sparseAutogradStream
//       CHECK:   return
func.func @read_again(%x: memref<?x?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.forall (%i) in (%n) {
    %in = memref.subview %x[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %result[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
        outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%o: f32):
      %p = arith.mulf %o, %o : f32
      linalg.yield %p : f32
    }
  }
  return %result : memref<?x?xf32>
}

// So does what the function reads, and what is not returned.

// CHECK-LABEL: func.func @read_behind
//   CHECK-NOT:   sparseAutogradStream
//       CHECK:   return
func.func @read_behind(%x: memref<?xf32>, %n: index, %m: index) -> (memref<?x?xf32>, f32) {
  %c0 = arith.constant 0 : index
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.forall (%i) in (%n) {
    %out = memref.subview %result[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<?xf32>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
  }
  %e = memref.load %result[%c0, %c0] : memref<?x?xf32>
  return %result, %e : memref<?x?xf32>, f32
}

// 4 KiB fit into a cache, unless somebody says otherwise.

// CHECK-LABEL: func.func @small
//   CHECK-NOT:   sparseAutogradStream
//       CHECK:   return
// SMALL-LABEL: func.func @small
//       SMALL:   call @sparseAutogradStream
//       SMALL:   return
func.func @small(%x: memref<32xf32>) -> memref<32x32xf32> {
  %result = memref.alloc() : memref<32x32xf32>
  scf.forall (%i) in (32) {
    %in = memref.subview %x[%i] [1] [1] : memref<32xf32> to memref<1xf32, strided<[1], offset: ?>>
    %out = memref.subview %result[%i, 0] [1, 32] [1, 1] : memref<32x32xf32> to memref<1x32xf32, strided<[32, 1], offset: ?>>
    linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<1xf32, strided<[1], offset: ?>>) outs(%out : memref<1x32xf32, strided<[32, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
  }
  return %result : memref<32x32xf32>
}
