// RUN: sparse-opt %s --split-input-file --sparse-autograd-fuse-kernels | FileCheck %s

#device = #gpu.address_space<global>

// The softmax of rows: what a row has stored it does not read again, and the
// sums are no buffer any more.

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?xf32,
// CHECK:       %[[Y:.*]] = memref.alloc
// CHECK-NOT:   memref.alloc
// CHECK-NOT:   scf.parallel
// CHECK:       scf.for %[[I:.*]] = %c0 to %[[N:.*]] step %c1 {
// CHECK-NEXT:    %[[SUM:.*]] = scf.for %[[J:.*]] = %c0 to %[[M:.*]] step %c1 iter_args(%[[S:.*]] = %cst) -> (f32) {
// CHECK:           %[[V:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[V]]
// CHECK-NEXT:      memref.store %[[E]], %[[Y]][%[[I]], %[[J]]]
// CHECK-NEXT:      arith.addf %[[S]], %[[E]] fastmath<reassoc>
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NEXT:    scf.for %[[K:.*]] = %c0 to %[[M]] step %c1 {
// CHECK-NEXT:      %[[F:.*]] = memref.load %[[Y]][%[[I]], %[[K]]]
// CHECK-NEXT:      %[[Q:.*]] = arith.divf %[[F]], %[[SUM]]
// CHECK-NEXT:      memref.store %[[Q]], %[[Y]][%[[I]], %[[K]]]
// CHECK-NEXT:    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NEXT:  return %[[Y]]
func.func @softmax(%x: memref<?x?xf32, #device>, %n: index, %m: index) -> memref<?x?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%n, %m) : memref<?x?xf32, #device>
  %copy = memref.alloc(%n, %m) : memref<?x?xf32, #device>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32, #device>
    %e = math.exp %v : f32
    memref.store %e, %copy[%i, %j] : memref<?x?xf32, #device>
    memref.store %e, %y[%i, %j] : memref<?x?xf32, #device>
  }
  %sums = memref.alloc(%n) : memref<?xf32, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %sums[%i] : memref<?xf32, #device>
  }
  scf.for %i = %c0 to %n step %c1 {
    %o = memref.load %sums[%i] : memref<?xf32, #device>
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%t = %o) -> f32 {
      %e = memref.load %copy[%i, %j] : memref<?x?xf32, #device>
      %u = arith.addf %t, %e fastmath<reassoc> : f32
      scf.yield %u : f32
    }
    memref.store %s, %sums[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  memref.dealloc %copy : memref<?x?xf32, #device>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %e = memref.load %y[%i, %j] : memref<?x?xf32, #device>
    %s = memref.load %sums[%i] : memref<?xf32, #device>
    %q = arith.divf %e, %s : f32
    memref.store %q, %y[%i, %j] : memref<?x?xf32, #device>
  }
  memref.dealloc %sums : memref<?xf32, #device>
  return %y : memref<?x?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// Loops over the segments of the rows, in one list of positions.

// CHECK-LABEL: func.func @segments(
// CHECK:       scf.for
// CHECK:         scf.for %[[K:.*]] = %[[BEGIN:.*]] to %[[END:.*]] step
// CHECK-NEXT:      %[[V:.*]] = memref.load %{{.*}}[%[[K]]]
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[V]]
// CHECK-NEXT:      memref.store %[[E]]
// CHECK-NEXT:      %[[D:.*]] = arith.addf %[[E]], %[[E]]
// CHECK-NEXT:      memref.store %[[D]]
// CHECK-NEXT:    }
// CHECK-NOT:   scf.for
// CHECK:       return
func.func @segments(%positions: memref<?xi32, #device>, %x: memref<?xf32, #device>, %n: index, %nnz: index) -> (memref<?xf32, #device>, memref<?xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc(%nnz) : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %b = memref.load %positions[%i] : memref<?xi32, #device>
    %begin = arith.index_castui %b : i32 to index
    %e = memref.load %positions[%next] : memref<?xi32, #device>
    %end = arith.index_castui %e : i32 to index
    scf.for %k = %begin to %end step %c1 {
      %v = memref.load %x[%k] : memref<?xf32, #device>
      %w = math.exp %v : f32
      memref.store %w, %y[%k] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  %z = memref.alloc(%nnz) : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %b = memref.load %positions[%i] : memref<?xi32, #device>
    %begin = arith.index_castui %b : i32 to index
    %e = memref.load %positions[%next] : memref<?xi32, #device>
    %end = arith.index_castui %e : i32 to index
    scf.for %k = %begin to %end step %c1 {
      %v = memref.load %y[%k] : memref<?xf32, #device>
      %w = arith.addf %v, %v : f32
      memref.store %w, %z[%k] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %y, %z : memref<?xf32, #device>, memref<?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// Not what reads other rows, nor what may be the same buffer, nor past an op
// that reads what the first loop writes; not the sums of a dense product, and no
// columns of few rows.

// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-10: scf.parallel
// CHECK:       return
func.func @apart(%a: memref<?xf32, #device>, %b: memref<?xf32, #device>, %h: memref<?xf32>, %c: memref<?x?xf32, #device>, %n: index, %m: index) -> (memref<?xf32, #device>, memref<?x?xf32, #device>, memref<8x?xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc(%n) : memref<?xf32, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %x[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%c0] : memref<?xf32, #device>
    memref.store %v, %a[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %next = arith.addi %i, %c1 : index
    %v = memref.load %a[%i] : memref<?xf32, #device>
    %w = memref.load %b[%next] : memref<?xf32, #device>
    %s = arith.addf %v, %w : f32
    memref.store %s, %a[%i] : memref<?xf32, #device>
  }
  %y = memref.alloc(%n) : memref<?xf32, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %y[%i] : memref<?xf32, #device>
  }
  memref.copy %y, %h : memref<?xf32, #device> to memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %y[%i] : memref<?xf32, #device>
    memref.store %v, %y[%i] : memref<?xf32, #device>
  }
  %p = memref.alloc(%n, %n) : memref<?x?xf32, #device>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = scf.for %k = %c0 to %m step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %c[%i, %k] : memref<?x?xf32, #device>
      %w = memref.load %c[%k, %j] : memref<?x?xf32, #device>
      %q = arith.mulf %v, %w : f32
      %t = arith.addf %o, %q fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %p[%i, %j] : memref<?x?xf32, #device>
  }
  %r = memref.alloc(%n) : memref<?xf32, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %p[%i, %c0] : memref<?x?xf32, #device>
    memref.store %v, %r[%i] : memref<?xf32, #device>
  }
  %f = memref.alloc(%m) : memref<8x?xf32, #device>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %m) step (%c1, %c1) {
    memref.store %zero, %f[%i, %j] : memref<8x?xf32, #device>
  }
  %g = memref.alloc() : memref<8xf32, #device>
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %v = memref.load %f[%i, %c0] : memref<8x?xf32, #device>
    memref.store %v, %g[%i] : memref<8xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %g[%c0] : memref<8xf32, #device>
    memref.store %v, %h[%i] : memref<?xf32>
  }
  return %r, %p, %f : memref<?xf32, #device>, memref<?x?xf32, #device>, memref<8x?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// A product of dense matrices takes in what is done with each element of it, but
// no other sum: it would not be one in tiles.

// CHECK-LABEL: func.func @products(
// CHECK:       scf.for
// CHECK:         scf.for
// CHECK:           %[[S:.*]] = sparse_autograd.inner_product
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[S]]
// CHECK-NEXT:      memref.store %[[E]]
// CHECK:       scf.parallel
// CHECK-NEXT:    sparse_autograd.inner_product
// CHECK-NEXT:    memref.store
// CHECK:       return
func.func @products(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %n: index) -> (memref<?x?xf32, #device>, memref<?x?xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc(%n, %n) : memref<?x?xf32, #device>
  %e = memref.alloc(%n, %n) : memref<?x?xf32, #device>
  %q = memref.alloc(%n, %n) : memref<?x?xf32, #device>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %n from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %s, %p[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %v = memref.load %p[%i, %j] : memref<?x?xf32, #device>
    %w = math.exp %v : f32
    memref.store %w, %e[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 1, %n from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %s, %q[%i, %j] : memref<?x?xf32, #device>
  }
  memref.dealloc %p : memref<?x?xf32, #device>
  return %e, %q : memref<?x?xf32, #device>, memref<?x?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// What a loop allocates is not the buffer that its last iteration has handed on,
// although that was allocated there.

// CHECK-LABEL: func.func @steps(
// CHECK:       scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (memref
// CHECK:         %[[Y:.*]] = memref.alloc
// CHECK-NEXT:    scf.for %[[I:.*]] =
// CHECK-NOT:     scf.parallel
// CHECK:           memref.load %[[X]][%c0]
// CHECK:           memref.store %{{.*}}, %[[Y]][%[[I]]]
// CHECK-NOT:       memref.store
// CHECK:         memref.dealloc %[[X]]
// CHECK:         scf.yield %[[Y]]
func.func @steps(%n: index, %steps: index) -> memref<?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %first = memref.alloc(%n) : memref<?xf32, #device>
  %last = scf.for %t = %c0 to %steps step %c1 iter_args(%x = %first) -> memref<?xf32, #device> {
    %y = memref.alloc(%n) : memref<?xf32, #device>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %zero, %y[%i] : memref<?xf32, #device>
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %o = memref.load %y[%i] : memref<?xf32, #device>
      %v = memref.load %x[%c0] : memref<?xf32, #device>
      %s = arith.addf %o, %v : f32
      memref.store %s, %y[%i] : memref<?xf32, #device>
    }
    memref.dealloc %x : memref<?xf32, #device>
    scf.yield %y : memref<?xf32, #device>
  }
  return %last : memref<?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// A store that a copy reads stays, although it is overwritten behind that.

// CHECK-LABEL: func.func @copied(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32,
// CHECK:       scf.for %[[I:.*]] =
// CHECK:         memref.store %{{.*}}, %[[X]][%[[I]]]
// CHECK-NEXT:    memref.copy %[[X]],
// CHECK-NEXT:    memref.store %{{.*}}, %[[X]][%[[I]]]
// CHECK:         memref.store
// CHECK-NOT:   scf.for
func.func @copied(%x: memref<4xf32, #device>, %y: memref<4xf32, #device>, %n: index) -> memref<?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %z = memref.alloc(%n) : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %x[%i] : memref<4xf32, #device>
    memref.copy %x, %y : memref<4xf32, #device> to memref<4xf32, #device>
    memref.store %one, %x[%i] : memref<4xf32, #device>
    memref.store %one, %z[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %z[%i] : memref<?xf32, #device>
    %w = arith.addf %v, %v : f32
    memref.store %w, %z[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %z : memref<?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// Extents that an assertion before the second loop has found to be equal, by way
// of a third, are one; those that are compared behind it, or in an iteration, may
// differ.

// CHECK-LABEL: func.func @asserted(
// CHECK-SAME:    %[[N:.*]]: index, %[[M:.*]]: index, %{{.*}}: index)
// CHECK:       cf.assert
// CHECK:       cf.assert
// CHECK-NEXT:  scf.for %[[I:.*]] = %c0 to %[[M]] step
// CHECK-NEXT:    arith.index_cast %[[I]]
// CHECK-NOT:   scf.parallel
// CHECK:       return
// CHECK-LABEL: func.func @asserted_later(
// CHECK:       scf.parallel
// CHECK:       scf.parallel
func.func @asserted(%n: index, %m: index, %k: index) -> memref<?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloc(%n) : memref<?xf32, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %j = arith.index_cast %i : index to i32
    %v = arith.sitofp %j : i32 to f32
    memref.store %v, %x[%i] : memref<?xf32, #device>
  }
  %e = arith.cmpi eq, %n, %k : index
  cf.assert %e, "n is k"
  %f = arith.cmpi eq, %m, %k : index
  cf.assert %f, "m is k"
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32, #device>
    %w = math.exp %v : f32
    memref.store %w, %x[%i] : memref<?xf32, #device>
  }
  return %x : memref<?xf32, #device>
}
func.func @asserted_later(%n: index, %m: index) -> memref<?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc(%n) : memref<?xf32, #device>
  %e = arith.cmpi eq, %n, %m : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    cf.assert %e, "n is m"
    memref.store %zero, %x[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32, #device>
    %w = math.exp %v : f32
    memref.store %w, %x[%i] : memref<?xf32, #device>
  }
  cf.assert %e, "n is m"
  return %x : memref<?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// What is done for each entry is done row by row, before and behind a product that
// is sampled at the entries: they begin with zero and are scaled in a register.
// Sums of the rows stay apart, since the entries are cut into chunks; what follows
// those for each entry is done with them.

// CHECK-LABEL: func.func @entries(
// CHECK-SAME:    %[[P:[^:]*]]: memref<?xi32, {{[^,]*}}, %[[X:[^:]*]]: memref<?x8xf32, {{[^,]*}}, %[[N:[^:]*]]: index, %[[NNZ:[^:]*]]: index)
// CHECK:       %[[S:.*]] = memref.alloc(%[[NNZ]])
// CHECK-NEXT:  scf.for %[[I:.*]] = %c0 to %[[N]] step
// CHECK:         %[[BEGIN:.*]] = arith.index_castui
// CHECK:         %[[END:.*]] = arith.index_castui
// CHECK-NEXT:    scf.for %[[K:.*]] = %[[BEGIN]] to %[[END]] step %c1 {
// CHECK-NEXT:      %[[DOT:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %cst
// CHECK:           %[[SCALED:.*]] = arith.mulf %[[DOT]], %{{.*}}
// CHECK-NEXT:      memref.store %[[SCALED]], %[[S]][%[[K]]]
// CHECK-NEXT:    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NEXT:  %[[R:.*]] = memref.alloc(%[[NNZ]])
// CHECK-NEXT:  scf.for %[[I:.*]] = %c0 to %[[N]] step
// CHECK:         %[[SUM:.*]] = scf.for
// CHECK:         scf.for %[[K:.*]] =
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[S]][%[[K]]]
// CHECK-NEXT:      %[[SHARE:.*]] = arith.divf %[[V]], %[[SUM]]
// CHECK-NEXT:      memref.store %[[SHARE]], %[[R]][%[[K]]]
// CHECK-NEXT:    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NEXT:  memref.dealloc
// CHECK-NEXT:  return
func.func @entries(%positions: memref<?xi32, #device>, %x: memref<?x8xf32, #device>, %n: index, %nnz: index) -> memref<?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %s = memref.alloc(%nnz) : memref<?xf32, #device>
  scf.parallel (%k) = (%c0) to (%nnz) step (%c1) {
    memref.store %zero, %s[%k] : memref<?xf32, #device>
  }
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %p = memref.load %positions[%i] : memref<?xi32, #device>
    %begin = arith.index_castui %p : i32 to index
    %q = memref.load %positions[%next] : memref<?xi32, #device>
    %end = arith.index_castui %q : i32 to index
    scf.for %k = %begin to %end step %c1 {
      %init = memref.load %s[%k] : memref<?xf32, #device>
      %dot = scf.for %j = %c0 to %c8 step %c1 iter_args(%sum = %init) -> f32 {
        %v = memref.load %x[%i, %j] : memref<?x8xf32, #device>
        %w = memref.load %x[%k, %j] : memref<?x8xf32, #device>
        %m = arith.mulf %v, %w : f32
        %t = arith.addf %sum, %m fastmath<reassoc> : f32
        scf.yield %t : f32
      }
      memref.store %dot, %s[%k] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%k) = (%c0) to (%nnz) step (%c1) {
    %v = memref.load %s[%k] : memref<?xf32, #device>
    %m = arith.mulf %v, %half : f32
    memref.store %m, %s[%k] : memref<?xf32, #device>
  }
  %sums = memref.alloc(%nnz) : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %p = memref.load %positions[%i] : memref<?xi32, #device>
    %begin = arith.index_castui %p : i32 to index
    %q = memref.load %positions[%next] : memref<?xi32, #device>
    %end = arith.index_castui %q : i32 to index
    %sum = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %s[%k] : memref<?xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
    scf.for %k = %begin to %end step %c1 {
      memref.store %sum, %sums[%k] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  %r = memref.alloc(%nnz) : memref<?xf32, #device>
  scf.parallel (%k) = (%c0) to (%nnz) step (%c1) {
    %v = memref.load %s[%k] : memref<?xf32, #device>
    %sum = memref.load %sums[%k] : memref<?xf32, #device>
    %share = arith.divf %v, %sum : f32
    memref.store %share, %r[%k] : memref<?xf32, #device>
  }
  memref.dealloc %sums : memref<?xf32, #device>
  memref.dealloc %s : memref<?xf32, #device>
  return %r : memref<?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// Loops that stay as they are: rows of which some entries are left out, lists of
// another length, elements of other entries, and rows that dense loops go through
// again.

// CHECK-LABEL: func.func @not_all(
// CHECK:       scf.parallel
// CHECK-LABEL: func.func @other_length(
// CHECK:       scf.parallel
// CHECK-LABEL: func.func @other_entries(
// CHECK:       scf.parallel
// CHECK-LABEL: func.func @by_columns(
// CHECK:       scf.parallel
func.func @not_all(%positions: memref<?xindex, #device>, %x: memref<?xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %nnz = memref.dim %x, %c0 : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    scf.for %k = %begin to %end step %c1 {
      memref.store %one, %x[%k] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%k) = (%c0) to (%nnz) step (%c1) {
    %v = memref.load %x[%k] : memref<?xf32, #device>
    %s = arith.addf %v, %v : f32
    memref.store %s, %x[%k] : memref<?xf32, #device>
  }
  return
}
func.func @other_length(%positions: memref<?xindex, #device>, %x: memref<?xf32, #device>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %nnz = memref.dim %x, %c0 : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    scf.for %k = %begin to %end step %c1 {
      memref.store %one, %x[%k] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%k) = (%c0) to (%m) step (%c1) {
    %v = memref.load %x[%k] : memref<?xf32, #device>
    %s = arith.addf %v, %v : f32
    memref.store %s, %x[%k] : memref<?xf32, #device>
  }
  return
}
func.func @other_entries(%positions: memref<?xindex, #device>, %places: memref<?xindex, #device>, %x: memref<?xf32, #device>, %y: memref<?xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %nnz = memref.dim %x, %c0 : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    scf.for %k = %begin to %end step %c1 {
      memref.store %one, %x[%k] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%k) = (%c0) to (%nnz) step (%c1) {
    %place = memref.load %places[%k] : memref<?xindex, #device>
    %v = memref.load %x[%place] : memref<?xf32, #device>
    memref.store %v, %y[%k] : memref<?xf32, #device>
  }
  return
}
func.func @by_columns(%positions: memref<?xindex, #device>, %x: memref<?xf32, #device>, %y: memref<?x8xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %nnz = memref.dim %x, %c0 : memref<?xf32, #device>
  scf.parallel (%k) = (%c0) to (%nnz) step (%c1) {
    %v = memref.load %x[%k] : memref<?xf32, #device>
    %s = arith.addf %v, %v : f32
    memref.store %s, %x[%k] : memref<?xf32, #device>
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %sum = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f32 {
        %v = memref.load %x[%k] : memref<?xf32, #device>
        %t = arith.addf %o, %v fastmath<reassoc> : f32
        scf.yield %t : f32
      } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
      memref.store %sum, %y[%i, %j] : memref<?x8xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
