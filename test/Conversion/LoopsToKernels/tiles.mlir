// RUN: sparse-opt %s --split-input-file --sparse-autograd-products-to-kernels --sparse-autograd-loops-to-kernels | FileCheck %s

#device = #gpu.address_space<global>

// Large products of dense matrices are computed in tiles, small ones element by
// element. The host decides. A thread has 16 sums of f32; what follows a sum is
// done for each.

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x?xf32, {{[^,]*}}, %[[B:[^:]*]]: memref<?x?xf32, {{[^,]*}}, %[[C:[^:]*]]: memref<?x?xf32, {{[^,]*}}, %[[N:[^:]*]]: index, %[[M:[^:]*]]: index, %[[K:[^:]*]]: index)
// CHECK:       %[[ROWS:.*]] = arith.cmpi sge, %[[N]], %c32
// CHECK:       %[[COLUMNS:.*]] = arith.cmpi sge, %[[M]], %c32
// CHECK:       %[[LARGE:.*]] = arith.andi %[[ROWS]], %[[COLUMNS]]
// CHECK:       %[[TERMS:.*]] = arith.cmpi sge, %[[K]], %c32
// CHECK:       %[[TILES:.*]] = arith.andi %[[LARGE]], %[[TERMS]]
// CHECK:       scf.if %[[TILES]] {
// CHECK:         gpu.launch {{.*}} threads(%{{[^,]*}}, %[[Y:[^,]*]], {{.*}}) in (%{{.*}} = %c16{{[^,]*}}, %{{.*}} = %c16{{[^,]*}},
// CHECK-SAME:      workgroup(%[[LEFT:.*]] : memref<16x68xf32, #gpu.address_space<workgroup>>, %[[RIGHT:.*]] : memref<16x68xf32, #gpu.address_space<workgroup>>)
// CHECK:           %[[OWN:.*]] = arith.muli %[[Y]], %c4
// CHECK:           %[[FIRST:.*]] = arith.addi %[[OWN]], %c0
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[K]] step %c16
// CHECK-COUNT-4:     memref.store %{{.*}}, %[[LEFT]]
// CHECK-COUNT-4:     memref.store %{{.*}}, %[[RIGHT]]
// CHECK:             gpu.barrier
// CHECK:             scf.for
// CHECK:               memref.load %[[LEFT]][%{{.*}}, %[[FIRST]]]
// CHECK-COUNT-3:       memref.load %[[LEFT]]
// CHECK-COUNT-4:       memref.load %[[RIGHT]]
// CHECK-COUNT-16:      math.fma
// CHECK:             gpu.barrier
// CHECK-COUNT-16:  math.absf
// CHECK:           gpu.terminator
// CHECK-NEXT:    } {nvvm.minctasm = 2 : i32}
// CHECK:       } else {
// CHECK:         gpu.launch
// CHECK-NOT:       workgroup
// CHECK:           arith.mulf
// CHECK:         } {nvvm.minctasm = 4 : i32}
func.func @product(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %c: memref<?x?xf32, #device>, %n: index, %m: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 1, %k from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    %r = math.absf %s : f32
    memref.store %r, %c[%i, %j] : memref<?x?xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Of extents that are known the host has nothing to decide; f64 has 4 sums. What
// a sum begins with is read first.

// CHECK-LABEL: func.func @known(
// CHECK-NOT:   scf.if
// CHECK:       gpu.launch
// CHECK-SAME:    memref<16x34xf64
// CHECK-COUNT-4: memref.load %arg2
// CHECK-NOT:     memref.load %arg2
// CHECK:         scf.for
// CHECK-COUNT-4:   math.fma
// CHECK-NOT:       math.fma
// CHECK:         gpu.terminator
// CHECK-NOT:   gpu.launch
// CHECK-LABEL: func.func @small(
// CHECK-NOT:   workgroup
// CHECK:       return
func.func @known(%a: memref<64x32xf64, #device>, %b: memref<32x48xf64, #device>, %c: memref<64x48xf64, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %m = arith.constant 48 : index
  %k = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %before = memref.load %c[%i, %j] : memref<64x48xf64, #device>
      %s = sparse_autograd.inner_product %b[%j] along 0, %a[%i] along 1, %k from %before
          : memref<32x48xf64, #device>, memref<64x32xf64, #device>, f64
      memref.store %s, %c[%i, %j] : memref<64x48xf64, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
func.func @small(%a: memref<64x8xf32, #device>, %b: memref<8x48xf32, #device>, %c: memref<64x48xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %m = arith.constant 48 : index
  %k = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %k from %zero
        : memref<64x8xf32, #device>, memref<8x48xf32, #device>, f32
    memref.store %s, %c[%i, %j] : memref<64x48xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// What has inner products and is not computed in tiles: a row that is read between
// the loops, an element that is written before the sum begins with one, an index that is computed, two
// sums, a sum without rows of its own, a nest with steps. They are loops.

// CHECK-LABEL: func.func @others(
// CHECK-NOT:   workgroup
// CHECK-COUNT-7: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc>
// CHECK-NOT:   inner_product
// CHECK:       return
func.func @others(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %c: memref<?x?xf32, #device>, %r: memref<?xindex, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %r[%i] : memref<?xindex, #device>
    scf.for %j = %c0 to %n step %c1 {
      %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %n from %zero
          : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
      memref.store %s, %c[%row, %j] : memref<?x?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    memref.store %zero, %c[%i, %j] : memref<?x?xf32, #device>
    %before = memref.load %c[%i, %j] : memref<?x?xf32, #device>
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %n from %before
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %next = arith.addi %i, %c1 : index
    %s = sparse_autograd.inner_product %a[%next] along 1, %b[%j] along 0, %n from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %n from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    %t = sparse_autograd.inner_product %b[%i] along 1, %a[%j] along 0, %n from %s
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %t, %c[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%i] along 0, %n from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c2, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %n from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Of several matrices one launch has all tiles. Columns are what runs fastest of what
// one factor has alone, here of the left one.

// CHECK-LABEL: func.func @batches(
// CHECK-SAME:    %[[A:[^:]*]]: memref<4x96x2x64xf32, {{[^,]*}}, %[[B:[^:]*]]: memref<4x128x64xf32
// CHECK:       gpu.launch blocks(%[[BLOCK:[^,]*]], {{.*}} in (%{{.*}} = %[[BLOCKS:[^,]*]],
// CHECK:         %[[MATRIX32:.*]] = arith.divui
// CHECK:         %[[MATRIX:.*]] = arith.index_castui %[[MATRIX32]] : i32 to index
// CHECK:         %[[FIRST32:.*]] = arith.divui
// CHECK:         %[[FIRST:.*]] = arith.index_castui %[[FIRST32]] : i32 to index
// CHECK:         %[[SECOND32:.*]] = arith.remui
// CHECK:         %[[SECOND:.*]] = arith.index_castui %[[SECOND32]] : i32 to index
// CHECK:         memref.load %[[B]][%[[FIRST]], %{{.*}}, %{{.*}}]
// CHECK:         memref.load %[[A]][%[[FIRST]], %{{.*}}, %[[SECOND]], %{{.*}}]
// CHECK:         memref.store %{{.*}}, %{{.*}}[%[[FIRST]], %[[SECOND]], %{{.*}}, %{{.*}}]
// CHECK-NOT:   gpu.launch
// CHECK:       return
func.func @batches(%a: memref<4x96x2x64xf32, #device>, %b: memref<4x128x64xf32, #device>, %c: memref<4x2x128x96xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = arith.constant 4 : index
  %heads = arith.constant 2 : index
  %n = arith.constant 128 : index
  %m = arith.constant 96 : index
  %k = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%z, %h, %i, %j) = (%c0, %c0, %c0, %c0) to (%batch, %heads, %n, %m) step (%c1, %c1, %c1, %c1) {
    %s = sparse_autograd.inner_product %a[%z, %j, %h] along 3, %b[%z, %i] along 2, %k from %zero
        : memref<4x96x2x64xf32, #device>, memref<4x128x64xf32, #device>, f32
    memref.store %s, %c[%z, %h, %i, %j] : memref<4x2x128x96xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Of contractions side by side whose extents are not known the host asks first whether
// any is large. If none is, their loops are fused, as others are.

// CHECK-LABEL: func.func @pair(
// CHECK:       %[[ONE:.*]] = arith.andi
// CHECK:       %[[OTHER:.*]] = arith.andi
// CHECK:       %[[ANY:.*]] = arith.ori
// CHECK:       scf.if %[[ANY]] {
// CHECK:         scf.if
// CHECK:           gpu.launch {{.*}} workgroup
// CHECK:         } else {
// CHECK:           gpu.launch
// CHECK-NOT:         workgroup
// CHECK:         scf.if
// CHECK:           gpu.launch {{.*}} workgroup
// CHECK:         } else {
// CHECK:           gpu.launch
// CHECK:       } else {
// CHECK:         gpu.launch
// CHECK-COUNT-2:   scf.for
// CHECK-NOT:     gpu.launch
// CHECK:       memref.dealloc
// CHECK:       return
func.func @pair(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %c: memref<?x?xf32, #device>, %n: index, %m: index) -> (memref<?x?xf32, #device>, memref<?x?xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc(%n, %n) : memref<?x?xf32, #device>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %n from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %s, %p[%i, %j] : memref<?x?xf32, #device>
  }
  %q = memref.alloc(%n, %n) : memref<?x?xf32, #device>
  memref.dealloc %b : memref<?x?xf32, #device>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "unequal"
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %c[%j] along 0, %n from %zero
        : memref<?x?xf32, #device>, memref<?x?xf32, #device>, f32
    memref.store %s, %q[%i, %j] : memref<?x?xf32, #device>
  }
  return %p, %q : memref<?x?xf32, #device>, memref<?x?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// What is written before the sum is written after it.

// CHECK-LABEL: func.func @before(
// CHECK-SAME:    %[[X:[^:]*]]: memref<64x64xf32, {{[^,]*}}, %{{[^:]*}}: memref<64x64xf32, {{[^,]*}}, %[[Y:[^:]*]]: memref
// CHECK:       gpu.launch
// CHECK:         math.fma
// CHECK:         %[[V:.*]] = memref.load %[[X]][%[[I:.*]], %[[J:.*]]]
// CHECK-NEXT:    %[[W:.*]] = math.exp %[[V]]
// CHECK-NEXT:    memref.store %[[W]], %[[Y]][%[[I]], %[[J]]]
// CHECK-NEXT:    memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
// CHECK:         gpu.terminator
// CHECK-NOT:   gpu.launch
func.func @before(%x: memref<64x64xf32, #device>, %b: memref<64x64xf32, #device>, %y: memref<64x64xf32, #device>, %c: memref<64x64xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<64x64xf32, #device>
    %w = math.exp %v : f32
    memref.store %w, %y[%i, %j] : memref<64x64xf32, #device>
    %s = sparse_autograd.inner_product %x[%i] along 1, %b[%j] along 0, %n from %zero
        : memref<64x64xf32, #device>, memref<64x64xf32, #device>, f32
    memref.store %s, %c[%i, %j] : memref<64x64xf32, #device>
  }
  return
}
