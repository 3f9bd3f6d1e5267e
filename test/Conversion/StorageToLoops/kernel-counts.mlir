// RUN: sparse-opt %s --sparse-autograd-storage-to-loops --canonicalize --cse | FileCheck %s

#Rows = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>
#Blocks = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

// A number of rows that kernels alone need stays where they are. The lists are as
// long as if no two entries were of the same row; loops end at what is read, which
// is not more. If something is wrong with an entry, there are no rows.

// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x1xindex>, %[[O:[^:]*]]: memref<?xindex>, %[[N:[^:]*]]: index, %[[S:[^:]*]]: memref<?xindex>, %[[T:[^:]*]]: memref<?xf32>)
// CHECK:       %[[RANKS:.*]] = call @_sparse_autograd_count_c(%[[C]], %[[O]], %[[N]])
// CHECK:       %[[IS_WRONG:.*]] = arith.cmpi slt, %[[N]], %c0
// CHECK-NEXT:  scf.if %[[IS_WRONG]] {
// CHECK-NEXT:    sparse_autograd.count_positions
// CHECK:       %[[TOTALS:.*]] = memref.alloc() : memref<1x2xindex>
// CHECK-NEXT:  scf.parallel (%[[I:[^)]*]]) = (%c0) to (%c2)
// CHECK:         %[[TOTAL:.*]] = scf.if
// CHECK:           memref.load %[[RANKS]][%{{.*}}, %[[I]]]
// CHECK:         %[[WRONG:.*]] = scf.if
// CHECK:           memref.load %[[RANKS]][%{{.*}}, %c1]
// CHECK:         %[[IS_RIGHT:.*]] = arith.cmpi eq, %[[WRONG]], %c0
// CHECK-NEXT:    %[[STORED:.*]] = arith.select %[[IS_RIGHT]], %[[TOTAL]], %c0
// CHECK-NEXT:    memref.store %[[STORED]], %[[TOTALS]][%c0, %[[I]]]
// CHECK-NEXT:    cf.assert %[[IS_RIGHT]], "sparse_autograd.count_positions: an entry is outside of the extents of the levels, or not in order"
// CHECK:       %[[MOST:.*]] = memref.dim %[[C]], %c0
// CHECK-NEXT:  %[[READ:.*]] = memref.load %[[TOTALS]][%c0, %c0]
// CHECK-NEXT:  %[[ROWS:.*]] = arith.minui %[[READ]], %[[MOST]]
// CHECK-NOT:   memref.copy
// CHECK:       %[[Q:.*]] = memref.alloc(%[[MOST]]) : memref<?xindex>
// CHECK:       call @_sparse_autograd_store_c_0_0(%[[C]], %[[O]], %[[RANKS]], %[[N]], %{{.*}}, %[[Q]], %[[S]])
// CHECK:       %[[LENGTH:.*]] = arith.muli %[[MOST]], %c4
// CHECK-NEXT:  %[[LONGER:.*]] = arith.addi %[[LENGTH]], %c1
// CHECK-NEXT:  memref.alloc(%[[LONGER]]) : memref<?xf32>
// CHECK-NEXT:  scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK:       scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK:         arith.addi %{{.*}}, %[[ROWS]]
// CHECK:       memref.dealloc %[[TOTALS]]
// CHECK-NEXT:  return
func.func @kept(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index, %s: memref<?xindex>, %t: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  %p = memref.alloc() : memref<2xindex>
  %q = memref.alloc(%rows) : memref<?xindex>
  sparse_autograd.store_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%p, %q, %s : memref<2xindex>, memref<?xindex>, memref<?xindex>)
  %length = arith.muli %rows, %c4 : index
  %longer = arith.addi %length, %c1 : index
  %v = memref.alloc(%longer) : memref<?xf32>
  scf.for %i = %c0 to %rows step %c1 {
    %r = memref.load %q[%i] : memref<?xindex>
    %x = memref.load %t[%r] : memref<?xf32>
    %place = arith.muli %i, %c4 : index
    memref.store %x, %v[%place] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %rows step %c1 {
    %place = arith.muli %i, %c4 : index
    %x = memref.load %v[%place] : memref<?xf32>
    %r = memref.load %q[%i] : memref<?xindex>
    %other = arith.addi %r, %rows : index
    memref.store %x, %t[%other] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  memref.dealloc %v : memref<?xf32>
  memref.dealloc %q : memref<?xindex>
  memref.dealloc %p : memref<2xindex>
  return
}

// Of what is returned the host reads how much there is when all kernels are on
// their way, once for all lists.

// CHECK-LABEL: func.func @returned(
// CHECK-SAME:    %[[C:[^:]*]]: memref<?x1xindex>
// CHECK:       %[[TOTALS:.*]] = memref.alloc() : memref<1x2xindex>
// CHECK:       %[[MOST:.*]] = memref.dim %[[C]], %c0
// CHECK-NEXT:  %[[READ:.*]] = memref.load %[[TOTALS]][%c0, %c0]
// CHECK-NEXT:  %[[ROWS:.*]] = arith.minui %[[READ]], %[[MOST]]
// CHECK:       %[[Q:.*]] = memref.alloc(%[[MOST]]) : memref<?xindex>
// CHECK:       call @_sparse_autograd_store_c_0_0(
// CHECK:       %[[LENGTH:.*]] = arith.muli %[[MOST]], %c4
// CHECK-NEXT:  %[[V:.*]] = memref.alloc(%[[LENGTH]]) : memref<?xf32>
// CHECK-NEXT:  scf.for %{{.*}} = %c0 to %[[ROWS]]
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NEXT:  %[[READ:.*]] = memref.load %[[TOTALS]][%c0, %c0]
// CHECK-NEXT:  %[[STORED:.*]] = arith.minui %[[READ]], %[[MOST]]
// CHECK-NOT:   memref.load
// CHECK-DAG:   %[[Q_PART:.*]] = memref.subview %[[Q]][0] [%[[STORED]]] [1]
// CHECK-DAG:   %[[Q_STORED:.*]] = memref.cast %[[Q_PART]] : {{.*}} to memref<?xindex>
// CHECK-DAG:   %[[ELEMENTS:.*]] = arith.muli %[[STORED]], %c4
// CHECK-DAG:   %[[V_PART:.*]] = memref.subview %[[V]][0] [%[[ELEMENTS]]] [1]
// CHECK-DAG:   %[[V_STORED:.*]] = memref.cast %[[V_PART]] : {{.*}} to memref<?xf32>
// CHECK:       memref.dealloc %[[TOTALS]]
// CHECK-NEXT:  return %[[Q_STORED]], %[[V_STORED]]
func.func @returned(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index, %p: memref<2xindex>, %s: memref<?xindex>) -> (memref<?xindex>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  %q = memref.alloc(%rows) : memref<?xindex>
  sparse_autograd.store_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%p, %q, %s : memref<2xindex>, memref<?xindex>, memref<?xindex>)
  %length = arith.muli %rows, %c4 : index
  %v = memref.alloc(%length) : memref<?xf32>
  scf.for %i = %c0 to %rows step %c1 {
    %place = arith.muli %i, %c4 : index
    memref.store %one, %v[%place] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %q, %v : memref<?xindex>, memref<?xf32>
}

// The host reads what it needs itself: the length of a list that is asked for, or
// handed on before the end, ...

// CHECK-LABEL: func.func @handed_on(
// CHECK:       %[[TOTALS:.*]]:2 = call @_sparse_autograd_totals_2(
// CHECK:       memref.store %[[TOTALS]]#0, %[[COUNTS:.*]][%c0]
// CHECK:       %[[ROWS:.*]] = memref.load %[[COUNTS]][%c0]
// CHECK:       memref.alloc(%[[ROWS]])
func.func private @use(memref<?xindex>)
func.func @handed_on(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index, %p: memref<2xindex>, %s: memref<?xindex>) -> memref<?xindex> {
  %c0 = arith.constant 0 : index
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  %q = memref.alloc(%rows) : memref<?xindex>
  sparse_autograd.store_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%p, %q, %s : memref<2xindex>, memref<?xindex>, memref<?xindex>)
  func.call @use(%q) : (memref<?xindex>) -> ()
  return %q : memref<?xindex>
}

// CHECK-LABEL: func.func @wide(
// CHECK:       call @_sparse_autograd_totals_2(
func.func @wide(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index) -> memref<?x4xf32> {
  %c0 = arith.constant 0 : index
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  %v = memref.alloc(%rows) : memref<?x4xf32>
  return %v : memref<?x4xf32>
}

// CHECK-LABEL: func.func @asked(
// CHECK:       call @_sparse_autograd_totals_2(
func.func @asked(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index, %p: memref<2xindex>, %s: memref<?xindex>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  %q = memref.alloc(%rows) : memref<?xindex>
  %length = memref.dim %q, %c0 : memref<?xindex>
  memref.dealloc %q : memref<?xindex>
  return %length : index
}

// ... the steps of a loop that is no kernel, ...

// CHECK-LABEL: func.func @sequential(
// CHECK:       %[[TOTALS:.*]]:2 = call @_sparse_autograd_totals_2(
// CHECK:       memref.store %[[TOTALS]]#0, %[[COUNTS:.*]][%c0]
// CHECK:       %[[ROWS:.*]] = memref.load %[[COUNTS]][%c0]
// CHECK:       scf.for %{{.*}} = %c0 to %[[ROWS]]
func.func @sequential(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index, %t: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  scf.for %i = %c0 to %rows step %c1 {
    %x = memref.load %t[] : memref<f32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %t[] : memref<f32>
  }
  return
}

// ... how many steps a kernel takes at once, a number that lengths are not alone
// in needing, ...

// CHECK-LABEL: func.func @step(
// CHECK:       call @_sparse_autograd_totals_2(
func.func @step(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index, %t: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  scf.for %i = %c0 to %n step %rows {
    memref.store %i, %t[%i] : memref<?xindex>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// CHECK-LABEL: func.func @length(
// CHECK:       call @_sparse_autograd_totals_2(
func.func @length(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  %length = arith.muli %rows, %c4 : index
  return %length : index
}

// ... numbers that somebody else owns, or could change, ...

// CHECK-LABEL: func.func @owned(
// CHECK:       call @_sparse_autograd_totals_2(
func.func @owned(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index, %k: memref<1xindex>) {
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  return
}

// CHECK-LABEL: func.func @changed(
// CHECK:       call @_sparse_autograd_totals_2(
func.func @changed(%c: memref<?x1xindex>, %o: memref<?xindex>, %n: index, %t: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = memref.alloc() : memref<1xindex>
  sparse_autograd.count_positions #Rows ins(%c, %o, %n : memref<?x1xindex>, memref<?xindex>, index) outs(%k : memref<1xindex>)
  memref.store %c1, %k[%c0] : memref<1xindex>
  %rows = memref.load %k[%c0] : memref<1xindex>
  memref.dealloc %k : memref<1xindex>
  scf.for %i = %c0 to %rows step %c1 {
    memref.store %i, %t[%i] : memref<?xindex>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// ... and what may be more than there are entries.

// CHECK-LABEL: func.func @dense(
// CHECK:       call @_sparse_autograd_totals_2(
func.func @dense(%c: memref<?x2xindex>, %o: memref<?xindex>, %n: index, %t: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = memref.alloc() : memref<2xindex>
  sparse_autograd.count_positions #Blocks ins(%c, %o, %n, %n : memref<?x2xindex>, memref<?xindex>, index, index) outs(%k : memref<2xindex>)
  %elements = memref.load %k[%c1] : memref<2xindex>
  memref.dealloc %k : memref<2xindex>
  scf.for %i = %c0 to %elements step %c1 {
    memref.store %i, %t[%i] : memref<?xindex>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
