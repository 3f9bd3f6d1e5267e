// RUN: sparse-opt %s --sparse-autograd-stream-results | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-stream-results=minimal-bytes=1024 | FileCheck %s --check-prefix=SMALL

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>

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

// What an iteration writes, and then changes in place, stays where it is.

// CHECK-LABEL: func.func @changed_in_place
//   CHECK-NOT:   sparseAutogradStream
//       CHECK:   return
func.func @changed_in_place(%x: memref<?x?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
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

// What another operation of the iteration reads is in a buffer of its own until
// the iteration ends, if the result is large. Blocks of whole rows are sent on at
// once.

// CHECK-LABEL: func.func @read_by_another
//  CHECK-SAME:     %[[X:[^:]+]]: memref<?x?xf32>, %[[N:[^:]+]]: index, %[[M:[^:]+]]: index, %[[ROWS:[^:]+]]: index
//       CHECK:   %[[RESULT:.+]] = memref.alloc(%[[N]], %[[M]])
//       CHECK:   %[[LARGE:.+]] = arith.cmpi uge, %{{.+}}, %{{.+}} : index
//       CHECK:   %[[BLOCK_BYTES:.+]] = arith.muli %{{.+}}, %[[M]] : index
//       CHECK:   %[[FITS:.+]] = arith.cmpi ule, %[[BLOCK_BYTES]], %{{.+}} : index
//       CHECK:   %[[BOTH:.+]] = arith.andi %[[LARGE]], %[[FITS]]
//       CHECK:   scf.if %[[BOTH]] {
//       CHECK:     %[[TOTAL:.+]] = arith.index_cast %{{.+}} : index to i64
//       CHECK:     scf.forall (%[[I:.+]]) in
//       CHECK:       %[[SIZE:.+]] = arith.minui %[[ROWS]], %{{.+}}
//       CHECK:       %[[BLOCK:.+]] = memref.subview %[[RESULT]][%{{.+}}, 0] [%[[SIZE]], %[[M]]]
//       CHECK:       %[[BUFFER:.+]] = memref.alloc(%[[ROWS]], %[[M]]) {alignment = 64 : i64} : memref<?x?xf32>
//       CHECK:       %[[PART:.+]] = memref.subview %[[BUFFER]][0, 0] [%[[SIZE]], %[[M]]]
//       CHECK:       linalg.generic {{.*}} outs(%[[PART]]
//       CHECK:       linalg.generic {{.*}} ins(%[[PART]]
//   CHECK-NOT:       scf.for
//       CHECK:       %[[TO:.+]] = memref.subview %[[BLOCK]][0, 0] [%[[SIZE]], %[[M]]]
//       CHECK:       %[[FROM:.+]] = memref.subview %[[PART]][0, 0] [%[[SIZE]], %[[M]]]
//       CHECK:       memref.extract_strided_metadata %[[TO]]
//       CHECK:       memref.extract_strided_metadata %[[FROM]]
//       CHECK:       arith.muli
//       CHECK:       call @sparseAutogradStream(%{{.+}}, %{{.+}}, %{{.+}}, %[[TOTAL]])
//       CHECK:   } else {
//       CHECK:     scf.forall
//       CHECK:       %[[IN_PLACE:.+]] = memref.subview %[[RESULT]]
//       CHECK:       linalg.generic {{.*}} outs(%[[IN_PLACE]]
//   CHECK-NOT:       sparseAutogradStream
//       CHECK:   return %[[RESULT]]
func.func @read_by_another(%x: memref<?x?xf32>, %n: index, %m: index, %rows: index) -> (memref<?x?xf32>, memref<?xf32>) {
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  %sums = memref.alloc(%n) : memref<?xf32>
  scf.forall (%i) in (%n) {
    %offset = arith.muli %i, %rows : index
    %rest = arith.subi %n, %offset : index
    %size = arith.minui %rows, %rest : index
    %in = memref.subview %x[%offset, 0] [%size, %m] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %result[%offset, 0] [%size, %m] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %sum = memref.subview %sums[%offset] [%size] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<?x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<?x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %p = arith.mulf %a, %a : f32
      linalg.yield %p : f32
    }
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%out : memref<?x?xf32, strided<[?, 1], offset: ?>>) outs(%sum : memref<?xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
  }
  return %result, %sums : memref<?x?xf32>, memref<?xf32>
}

// Blocks of columns are sent on row by row.

// CHECK-LABEL: func.func @columns_read_by_another
//       CHECK:       scf.for %[[ROW:.+]] = %{{.+}} to %[[N:.+]] step
//       CHECK:         memref.subview %{{.+}}[%[[ROW]], 0] [1, %{{.+}}]
//       CHECK:         memref.subview %{{.+}}[%[[ROW]], 0] [1, %{{.+}}]
//       CHECK:         call @sparseAutogradStream
func.func @columns_read_by_another(%x: memref<?x?xf32>, %n: index, %m: index, %columns: index) -> (memref<?x?xf32>, memref<?xf32>) {
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  %sums = memref.alloc(%m) : memref<?xf32>
  scf.forall (%i) in (%m) {
    %offset = arith.muli %i, %columns : index
    %rest = arith.subi %m, %offset : index
    %size = arith.minui %columns, %rest : index
    %in = memref.subview %x[0, %offset] [%n, %size] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %result[0, %offset] [%n, %size] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %sum = memref.subview %sums[%offset] [%size] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<?x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<?x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %p = arith.mulf %a, %a : f32
      linalg.yield %p : f32
    }
    linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
        ins(%out : memref<?x?xf32, strided<[?, 1], offset: ?>>) outs(%sum : memref<?xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
  }
  return %result, %sums : memref<?x?xf32>, memref<?xf32>
}

// A size that is known only in the loop is none that iterations could share.

// CHECK-LABEL: func.func @unknown_size
//   CHECK-NOT:   sparseAutogradStream
//       CHECK:   return
func.func @unknown_size(%x: memref<?x?xf32>, %sizes: memref<?xindex>, %n: index, %m: index) -> (memref<?x?xf32>, memref<f32>) {
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  %sum = memref.alloc() : memref<f32>
  scf.forall (%i) in (%n) {
    %size = memref.load %sizes[%i] : memref<?xindex>
    %in = memref.subview %x[%i, 0] [%size, %m] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %result[%i, 0] [%size, %m] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<?x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<?x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction", "reduction"]}
        ins(%out : memref<?x?xf32, strided<[?, 1], offset: ?>>) outs(%sum : memref<f32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    }
  }
  return %result, %sum : memref<?x?xf32>, memref<f32>
}

// Of two loops of which one runs, each is looked at by itself: the first hands
// the rows to somebody else.

// CHECK-LABEL: func.func @alternatives
//       CHECK:   scf.if
//       CHECK:     scf.forall
//   CHECK-NOT:       sparseAutogradStream
//       CHECK:   } else {
//       CHECK:     scf.forall
//       CHECK:       call @sparseAutogradStream
func.func private @write(memref<1x?xf32, strided<[?, 1], offset: ?>>)
func.func @alternatives(%x: memref<?x?xf32>, %n: index, %m: index, %condition: i1) -> memref<?x?xf32> {
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.if %condition {
    scf.forall (%i) in (%n) {
      %out = memref.subview %result[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
      func.call @write(%out) : (memref<1x?xf32, strided<[?, 1], offset: ?>>) -> ()
    }
  } else {
    scf.forall (%i) in (%n) {
      %in = memref.subview %x[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
      %out = memref.subview %result[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%in : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }
    }
  }
  return %result : memref<?x?xf32>
}

// Of two that both run, the second may read what the first has written.

// CHECK-LABEL: func.func @both
//   CHECK-NOT:   sparseAutogradStream
//       CHECK:   return
func.func @both(%x: memref<?x?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %result = memref.alloc(%n, %m) : memref<?x?xf32>
  scf.forall (%i) in (%n) {
    %in = memref.subview %x[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    %out = memref.subview %result[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : memref<1x?xf32, strided<[?, 1], offset: ?>>) outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
  }
  scf.forall (%i) in (%n) {
    %out = memref.subview %result[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
        outs(%out : memref<1x?xf32, strided<[?, 1], offset: ?>>) {
    ^bb0(%o: f32):
      %p = arith.mulf %o, %o : f32
      linalg.yield %p : f32
    }
  }
  return %result : memref<?x?xf32>
}
