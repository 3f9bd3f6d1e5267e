// RUN: sparse-opt %s --sparse-autograd-storage-to-loops --canonicalize --cse | FileCheck %s

// One function for all lists with as many levels, whatever their lengths.

// CHECK-LABEL: func.func @sort(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x2xindex>, %[[O:[^:]*]]: memref<?xindex>, %[[C8:[^:]*]]: memref<8x2xindex>, %[[O8:[^:]*]]: memref<8xindex>
// CHECK:       call @_sparse_autograd_sort_2(%[[C]], %[[O]])
// CHECK-NEXT:  %[[C8_CAST:.*]] = memref.cast %[[C8]] : memref<8x2xindex> to memref<?x2xindex>
// CHECK-NEXT:  %[[O8_CAST:.*]] = memref.cast %[[O8]] : memref<8xindex> to memref<?xindex>
// CHECK-NEXT:  call @_sparse_autograd_sort_2(%[[C8_CAST]], %[[O8_CAST]])
func.func @sort(%c: memref<?x2xindex>, %o: memref<?xindex>, %c8: memref<8x2xindex>, %o8: memref<8xindex>) {
  sparse_autograd.sort_entries ins(%c : memref<?x2xindex>) outs(%o : memref<?xindex>)
  sparse_autograd.sort_entries ins(%c8 : memref<8x2xindex>) outs(%o8 : memref<8xindex>)
  return
}

// What is not laid out in rows one after the other is left to the runtime, and
// so is what has a number of levels that is not known, or is not in the memory
// that functions take.

// CHECK-LABEL: func.func @left(
// CHECK:       sparse_autograd.sort_entries ins(%{{.*}} : memref<?x2xindex, strided<[4, 1]>>)
// CHECK:       sparse_autograd.sort_entries ins(%{{.*}} : memref<?x?xindex>)
// CHECK:       sparse_autograd.sort_entries ins(%{{.*}} : memref<?x2xindex, 1>)
func.func @left(%c: memref<?x2xindex, strided<[4, 1]>>, %d: memref<?x?xindex>, %s: memref<?x2xindex, 1>, %o: memref<?xindex>) {
  sparse_autograd.sort_entries ins(%c : memref<?x2xindex, strided<[4, 1]>>) outs(%o : memref<?xindex>)
  sparse_autograd.sort_entries ins(%d : memref<?x?xindex>) outs(%o : memref<?xindex>)
  sparse_autograd.sort_entries ins(%s : memref<?x2xindex, 1>) outs(%o : memref<?xindex>)
  return
}

// Entries that are sorted keep their order. Others are sorted by keys: in runs,
// which are merged from one pair of buffers into the other.

// CHECK-LABEL: func.func private @_sparse_autograd_sort_2(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x2xindex>, %[[O:[^:]*]]: memref<?xindex>)
// CHECK:       %[[N:.*]] = memref.dim %[[C]], %c0
// CHECK:       %[[IS_LONG:.*]] = arith.cmpi ugt, %[[N]], %c256
// CHECK:       scf.if %[[IS_LONG]] {
// CHECK:         %[[SURVEY:.*]] = func.call @_sparse_autograd_survey_2(%[[C]])
// CHECK:         %[[ROW:.*]] = memref.subview %[[SURVEY]][0, 0] [1, 3] [1, 1]
// CHECK:         %[[HOST:.*]] = memref.alloca() : memref<3xindex>
// CHECK:         memref.copy %[[ROW]], %[[HOST]]
// CHECK-NOT:     memref.copy
// CHECK:         %[[UNSORTED:.*]] = memref.load %[[HOST]][%c0]
// CHECK:         %[[LARGEST_FIRST:.*]] = memref.load %[[HOST]][%c1]
// CHECK:         %[[LARGEST_LAST:.*]] = memref.load %[[HOST]][%c2]
// CHECK:         %[[IS_SORTED:.*]] = arith.cmpi eq, %[[UNSORTED]], %c0
// CHECK:         scf.if %[[IS_SORTED]] {
// CHECK-NEXT:      scf.parallel (%[[I:[^)]*]]) = (%c0) to (%[[N]]) step (%c1) {
// CHECK-NEXT:        memref.store %[[I]], %[[O]][%[[I]]]
// CHECK:         } else {
// CHECK:           %[[LAST:.*]] = arith.index_cast %[[LARGEST_LAST]] : index to i64
// CHECK:           math.ctlz %[[LAST]]
// CHECK:           %[[FIRST:.*]] = arith.index_cast %[[LARGEST_FIRST]] : index to i64
// CHECK:           math.ctlz %[[FIRST]]
// CHECK:           %[[KEYS:.*]] = memref.alloc(%[[N]]) : memref<?xindex>
// CHECK:           %[[RUN_KEYS:.*]] = memref.alloc(%[[N]]) : memref<?xindex>
// CHECK:           %[[OTHER:.*]] = memref.alloc(%[[N]]) : memref<?xindex>
// CHECK:           %[[ENTRIES:.*]] = arith.select %[[EVEN:.*]], %[[OTHER]], %[[O]]
// CHECK:           %[[RUN_ENTRIES:.*]] = arith.select %[[EVEN]], %[[O]], %[[OTHER]]
// CHECK:           scf.for %[[GROUP:[^ ]*]] = %c0 to
// CHECK:             scf.parallel (%[[I:[^)]*]]) = (%c0) to (%[[N]])
// CHECK:               %[[ENTRY:.*]] = scf.if
// CHECK:               memref.load %[[C]][%[[ENTRY]], %c0]
// CHECK:               arith.shli
// CHECK:               memref.load %[[C]][%[[ENTRY]], %c1]
// CHECK:               memref.store %{{.*}}, %[[KEYS]][%[[I]]]
// CHECK:               memref.store %[[ENTRY]], %[[ENTRIES]][%[[I]]]
// CHECK:             scf.parallel
// CHECK:               memref.store %{{.*}}, %[[RUN_KEYS]][%[[PLACE:.*]]]
// CHECK:               memref.store %{{.*}}, %[[RUN_ENTRIES]][%[[PLACE]]]
// CHECK:             scf.for {{.*}} iter_args(%[[FROM_KEYS:.*]] = %[[RUN_KEYS]], %[[FROM:.*]] = %[[RUN_ENTRIES]], %[[TO_KEYS:.*]] = %[[KEYS]], %[[TO:.*]] = %[[ENTRIES]])
// CHECK:               scf.parallel
// CHECK:                 %[[KEY:.*]] = memref.load %[[FROM_KEYS]]
// CHECK:                 scf.while
// CHECK:                 memref.store %[[KEY]], %[[TO_KEYS]][%[[MERGED:.*]]]
// CHECK:                 memref.store %{{.*}}, %[[TO]][%[[MERGED]]]
// CHECK:               scf.yield %[[TO_KEYS]], %[[TO]], %[[FROM_KEYS]], %[[FROM]]
// CHECK:           memref.dealloc %[[KEYS]]
// CHECK:           memref.dealloc %[[RUN_KEYS]]
// CHECK:           memref.dealloc %[[OTHER]]
// CHECK:         memref.dealloc %[[SURVEY]]

// Few entries count those that come before them.

// CHECK:       } else {
// CHECK-NEXT:    scf.parallel (%[[I:[^)]*]]) = (%c0) to (%[[N]])
// CHECK:           %[[PLACE:.*]] = scf.for %[[J:[^ ]*]] = %c0 to %[[N]]
// CHECK:             arith.cmpi ult, %[[J]], %[[I]]
// CHECK:           memref.store %[[I]], %[[O]][%[[PLACE]]]

// What is asked of the list are maxima.

// CHECK-LABEL: func.func private @_sparse_autograd_survey_2(
// CHECK:       %[[FOUND:.*]] = memref.alloc(%[[THREADS:.*]]) : memref<?x3xindex>
// CHECK:       scf.parallel (%[[T:[^)]*]]) = (%c0) to (%[[THREADS]])
// CHECK:         scf.for %{{.*}} = %[[T]] to %{{.*}} step %[[THREADS]]
// CHECK:       scf.while (%[[LENGTH:.*]] = %[[THREADS]])
// CHECK:         scf.parallel
// CHECK:       return %[[FOUND]]

// The coordinates of one level are the keys. The host reads nothing: threads write
// the order of a list that is sorted, and then do nothing.

// CHECK-LABEL: func.func private @_sparse_autograd_sort_1(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x1xindex>, %[[O:[^:]*]]: memref<?xindex>)
// CHECK-NOT:   memref.copy
// CHECK:       scf.if %{{.*}} {
// CHECK:         %[[SURVEY:.*]] = func.call @_sparse_autograd_survey_1(%[[C]])
// CHECK-NOT:     math.ctlz %[[SURVEY]]
// CHECK:         %[[KEYS:.*]] = memref.alloc(%[[N:.*]]) : memref<?xindex>
// CHECK:         scf.parallel (%[[I:[^)]*]]) = (%c0) to (%[[N]])
// CHECK-NEXT:      %[[UNSORTED:.*]] = memref.load %[[SURVEY]][%c0, %c0]
// CHECK-NEXT:      %[[SORTS:.*]] = arith.cmpi ne, %[[UNSORTED]], %c0
// CHECK-NEXT:      scf.if %[[SORTS]] {
// CHECK-NEXT:        %[[KEY:.*]] = memref.load %[[C]][%[[I]], %c0]
// CHECK-NEXT:        memref.store %[[KEY]], %[[KEYS]][%[[I]]]
// CHECK-NEXT:        memref.store %[[I]], %{{.*}}[%[[I]]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        memref.store %[[I]], %[[O]][%[[I]]]
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.parallel
// CHECK-NEXT:      %[[UNSORTED:.*]] = memref.load %[[SURVEY]][%c0, %c0]
// CHECK-NEXT:      %[[SORTS:.*]] = arith.cmpi ne, %[[UNSORTED]], %c0
// CHECK-NEXT:      scf.if %[[SORTS]] {
// CHECK-NOT:       } else {
// CHECK:           scf.reduce
// CHECK:         scf.for
// CHECK:           scf.parallel
// CHECK-NEXT:        %[[UNSORTED:.*]] = memref.load %[[SURVEY]][%c0, %c0]
// CHECK-NEXT:        %[[SORTS:.*]] = arith.cmpi ne, %[[UNSORTED]], %c0
// CHECK-NEXT:        scf.if %[[SORTS]] {
// CHECK:         memref.dealloc %[[SURVEY]]
func.func @list(%c: memref<?x1xindex>, %o: memref<?xindex>) {
  sparse_autograd.sort_entries ins(%c : memref<?x1xindex>) outs(%o : memref<?xindex>)
  return
}
