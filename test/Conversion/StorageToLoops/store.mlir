// RUN: sparse-opt %s --sparse-autograd-storage-to-loops --canonicalize --cse | FileCheck %s

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#narrow = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 16}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>

// Entries are counted once for both ops. The runtime is asked where something is
// wrong with them, and with the extents.

// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x2xindex>, %[[O:[^:]*]]: memref<?xindex>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index, %[[K:[^:]*]]: memref<2xindex>
// CHECK:       %[[COUNTED:.*]] = call @_sparse_autograd_count_d_c(%[[C]], %[[O]], %[[M]], %[[N]])
// CHECK:       arith.cmpi slt, %[[M]], %c0
// CHECK:       arith.cmpi slt, %[[N]], %c0
// CHECK:       %[[TOTALS:.*]]:2 = call @_sparse_autograd_totals_2(%[[COUNTED]])
// CHECK:       arith.cmpi ne, %[[TOTALS]]#1, %c0
// CHECK:       scf.if %[[IS_WRONG:.*]] {
// CHECK-NEXT:    sparse_autograd.count_positions {{.*}} ins(%[[C]], %[[O]], %[[M]], %[[N]] {{.*}} outs(%[[K]]
// CHECK-NEXT:  }
// CHECK-NEXT:  memref.store %[[M]], %[[K]][%c0]
// CHECK-NEXT:  memref.store %[[TOTALS]]#0, %[[K]][%c1]
// CHECK:       %[[P:.*]] = memref.alloc
// CHECK:       %[[Q:.*]] = memref.alloc
// CHECK:       %[[S:.*]] = memref.alloc
// CHECK:       call @_sparse_autograd_store_d_c_0_0(%[[C]], %[[O]], %[[COUNTED]], %[[M]], %[[N]], %[[P]], %[[Q]], %[[S]])
// CHECK-NEXT:  memref.dealloc %[[COUNTED]]
// CHECK-NOT:   call
// CHECK:       return
func.func @both(%c: memref<?x2xindex>, %o: memref<?xindex>, %m: index, %n: index, %k: memref<2xindex>, %e: index) -> (memref<?xindex>, memref<?xindex>, memref<?xindex>) {
  %c1 = arith.constant 1 : index
  sparse_autograd.count_positions #CSR ins(%c, %o, %m, %n : memref<?x2xindex>, memref<?xindex>, index, index) outs(%k : memref<2xindex>)
  %rows = arith.addi %m, %c1 : index
  %p = memref.alloc(%rows) : memref<?xindex>
  %elements = memref.load %k[%c1] : memref<2xindex>
  %q = memref.alloc(%elements) : memref<?xindex>
  %s = memref.alloc(%e) : memref<?xindex>
  sparse_autograd.store_positions #CSR ins(%c, %o, %m, %n : memref<?x2xindex>, memref<?xindex>, index, index) outs(%p, %q, %s : memref<?xindex>, memref<?xindex>, memref<?xindex>)
  return %p, %q, %s : memref<?xindex>, memref<?xindex>, memref<?xindex>
}

// What may have been written in between is counted again. Numbers that are
// narrow may not fit: the last position, and coordinates if extents are large.

// CHECK-LABEL: func.func @apart(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x2xindex>, %[[O:[^:]*]]: memref<?xindex>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index, %[[K:[^:]*]]: memref<2xindex>, %[[P:[^:]*]]: memref<?xi32>, %[[Q:[^:]*]]: memref<?xi16>, %[[S:[^:]*]]: memref<?xindex>
// CHECK:       %[[FIRST:.*]] = call @_sparse_autograd_count_d_c(
// CHECK:       memref.dealloc %[[FIRST]]
// CHECK:       memref.store %c0, %[[O]][%c0]
// CHECK:       %[[ELEMENTS:.*]] = memref.dim %[[Q]], %c0
// CHECK:       arith.cmpi ugt, %[[ELEMENTS]], %c4294967295
// CHECK:       %[[IS_LARGE:.*]] = arith.cmpi ugt, %[[N]], %c65536
// CHECK:       scf.if %[[IS_LARGE]] -> (i1) {
// CHECK-NEXT:    %[[SURVEY:.*]] = func.call @_sparse_autograd_survey_2(%[[C]])
// CHECK:         %[[LARGEST:.*]] = memref.load %{{.*}}[%c2] : memref<3xindex>
// CHECK-NEXT:    memref.dealloc %[[SURVEY]]
// CHECK-NEXT:    %[[MISFIT:.*]] = arith.cmpi ugt, %[[LARGEST]], %c65535
// CHECK-NEXT:    scf.yield %[[MISFIT]]
// CHECK:       %[[SECOND:.*]] = call @_sparse_autograd_count_d_c(
// CHECK:       %[[TOTALS:.*]]:2 = call @_sparse_autograd_totals_2(%[[SECOND]])
// CHECK:       arith.cmpi ne, %[[TOTALS]]#1, %c0
// CHECK:       scf.if
// CHECK-NEXT:    sparse_autograd.store_positions
// CHECK:       call @_sparse_autograd_store_d_c_32_16(%[[C]], %[[O]], %[[SECOND]], %[[M]], %[[N]], %[[P]], %[[Q]], %[[S]])
// CHECK:       memref.dealloc %[[SECOND]]
func.func @apart(%c: memref<?x2xindex>, %o: memref<?xindex>, %m: index, %n: index, %k: memref<2xindex>, %p: memref<?xi32>, %q: memref<?xi16>, %s: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  sparse_autograd.count_positions #narrow ins(%c, %o, %m, %n : memref<?x2xindex>, memref<?xindex>, index, index) outs(%k : memref<2xindex>)
  memref.store %c0, %o[%c0] : memref<?xindex>
  sparse_autograd.store_positions #narrow ins(%c, %o, %m, %n : memref<?x2xindex>, memref<?xindex>, index, index) outs(%p, %q, %s : memref<?xi32>, memref<?xi16>, memref<?xindex>)
  return
}

// CHECK-LABEL: func.func @list(
// CHECK:       call @_sparse_autograd_count_cn_s(
// CHECK:       call @_sparse_autograd_store_cn_s_0_0(
func.func @list(%c: memref<?x2xindex>, %o: memref<?xindex>, %m: index, %n: index, %k: memref<2xindex>, %p: memref<?xindex>, %q: memref<?xindex>, %r: memref<?xindex>, %s: memref<?xindex>) {
  sparse_autograd.count_positions #COO ins(%c, %o, %m, %n : memref<?x2xindex>, memref<?xindex>, index, index) outs(%k : memref<2xindex>)
  sparse_autograd.store_positions #COO ins(%c, %o, %m, %n : memref<?x2xindex>, memref<?xindex>, index, index) outs(%p, %q, %r, %s : memref<?xindex>, memref<?xindex>, memref<?xindex>, memref<?xindex>)
  return
}

// CHECK-LABEL: func.func @before(
// CHECK-SAME:    %[[N:[^:]*]]: memref<?xindex>, %[[B:[^:]*]]: memref<?xindex>)
// CHECK-NEXT:  call @_sparse_autograd_count_before(%[[N]], %[[B]])
func.func @before(%n: memref<?xindex>, %b: memref<?xindex>) {
  sparse_autograd.count_before ins(%n : memref<?xindex>) outs(%b : memref<?xindex>)
  return
}

// An entry is new if it differs from the one before it. The number of those that
// something is wrong with is added up beside.

// CHECK-LABEL: func.func private @_sparse_autograd_count_d_c(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x2xindex>, %[[O:[^:]*]]: memref<?xindex>
// CHECK:       %[[RANKS:.*]] = memref.alloc(%{{.*}}) : memref<?x2xindex>
// CHECK:       scf.parallel (%[[I:[^)]*]]) =
// CHECK:         memref.store %{{.*}}, %[[RANKS]][%[[I]], %c0]
// CHECK:         memref.store %{{.*}}, %[[RANKS]][%[[I]], %c1]
// CHECK:       call @_sparse_autograd_scan_2(%[[RANKS]])
// CHECK-NEXT:  return %[[RANKS]] :

// Sums of chunks, their own, and with it those in the chunks.

// CHECK-LABEL: func.func private @_sparse_autograd_scan_2(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x2xindex>)
// CHECK:       %[[SUMS:.*]] = memref.alloc(%[[CHUNKS:.*]]) : memref<?x2xindex>
// CHECK:       %[[IS_CUT:.*]] = arith.cmpi ugt, %[[CHUNKS]], %c1
// CHECK:       scf.if %[[IS_CUT]] {
// CHECK:         scf.parallel
// CHECK:           memref.store %{{.*}}, %[[SUMS]]
// CHECK:         func.call @_sparse_autograd_scan_2(%[[SUMS]])
// CHECK:       scf.parallel
// CHECK:         memref.load %[[SUMS]]
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           memref.store %{{.*}}, %[[X]][%[[I]], %{{.*}}]

// The host reads the totals at once.

// CHECK-LABEL: func.func private @_sparse_autograd_totals_2(
// CHECK-SAME:    %[[RANKS:[^:]*]]: memref<?x2xindex>)
// CHECK:       %[[TOTALS:.*]] = memref.alloc() : memref<1x2xindex>
// CHECK:       scf.parallel (%[[I:[^)]*]]) = (%c0) to (%c2)
// CHECK:         memref.load %[[RANKS]][%{{.*}}, %[[I]]]
// CHECK:         memref.store %{{.*}}, %[[TOTALS]][%c0, %[[I]]]
// CHECK:       memref.copy
// CHECK-NOT:   memref.copy
// CHECK:       return

// What is new writes its coordinate, each entry its place, each parent its
// position.

// CHECK-LABEL: func.func private @_sparse_autograd_store_d_c_0_0(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x2xindex>, %[[O:[^:]*]]: memref<?xindex>, %[[RANKS:[^:]*]]: memref<?x2xindex>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index, %[[P:[^:]*]]: memref<?xindex>, %[[Q:[^:]*]]: memref<?xindex>, %[[S:[^:]*]]: memref<?xindex>)
// CHECK:       scf.parallel (%[[I:[^)]*]]) =
// CHECK:         %[[ENTRY:.*]] = memref.load %[[O]][%[[I]]]
// CHECK:         %[[RANK:.*]] = memref.load %[[RANKS]][%[[I]], %c0]
// CHECK:         %[[IS_NEW:.*]] = arith.cmpi ne, %[[RANK]]
// CHECK:         scf.if %[[IS_NEW]] {
// CHECK:           %[[ELEMENT:.*]] = arith.subi %[[RANK]], %c1
// CHECK:           memref.store %{{.*}}, %[[Q]][%[[ELEMENT]]]
// CHECK:         memref.store %{{.*}}, %[[S]][%[[ENTRY]]]
// CHECK:       %[[PARENTS:.*]] = memref.dim %[[P]], %c0
// CHECK:       scf.parallel (%[[PARENT:[^)]*]]) = (%c0) to (%[[PARENTS]])
// CHECK:         %[[RANGE:.*]]:2 = scf.while
// CHECK:         memref.store %{{.*}}, %[[P]][%[[PARENT]]]

// CHECK-LABEL: func.func private @_sparse_autograd_store_d_c_32_16(
// CHECK:       arith.index_cast %{{.*}} : index to i16
// CHECK:       arith.index_cast %{{.*}} : index to i32

// Singletons are where their parents are.

// CHECK-LABEL: func.func private @_sparse_autograd_store_cn_s_0_0(
// CHECK-SAME:    %[[R0:[^:]*]]: memref<?xindex>, %[[R1:[^:]*]]: memref<?xindex>, %[[SLOTS:[^:]*]]: memref<?xindex>)
// CHECK:         scf.if
// CHECK:           memref.store %{{.*}}, %[[R0]][%[[ELEMENT:.*]]]
// CHECK:           memref.store %{{.*}}, %[[R1]][%[[ELEMENT]]]

// What is before each is what there is up to the one before it.

// CHECK-LABEL: func.func private @_sparse_autograd_count_before(
// CHECK-SAME:    %[[N:[^:]*]]: memref<?xindex>, %[[B:[^:]*]]: memref<?xindex>)
// CHECK:       scf.parallel (%[[I:[^)]*]]) =
// CHECK:         %[[COUNT:.*]] = scf.if
// CHECK:           %[[PREVIOUS:.*]] = arith.subi %[[I]], %c1
// CHECK:           memref.load %[[N]][%[[PREVIOUS]]]
// CHECK:         memref.store %[[COUNT]], %[[B]][%[[I]]]
// CHECK:       %[[ROWS:.*]] = memref.expand_shape %[[B]]
// CHECK:       call @_sparse_autograd_scan_1(%[[ROWS]])
