// RUN: sparse-opt %s --split-input-file --sparse-autograd-products-to-kernels --sparse-autograd-loops-to-kernels | FileCheck %s

#device = #gpu.address_space<global>

// Large products of bf16 whose sums are f32 are computed by tensor cores. The host
// chooses among tiles of 128 x 128, if there are 128 of them, tiles of 64 x 64, and
// no tiles. A block has two, or four, strips of 32 terms of each factor in shared
// memory: it multiplies one while the others are copied, eight elements by one
// instruction where these divide the rows. Factors that are stored the other way round are
// transposed when they are loaded. What the sum begins with is added last, and what
// follows it is done for each element.

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x?xbf16, {{[^,]*}}, %[[B:[^:]*]]: memref<?x?xbf16, {{[^,]*}}, %[[C:[^:]*]]: memref<?x?xf32, {{[^,]*}}, %[[N:[^:]*]]: index, %[[M:[^:]*]]: index, %[[K:[^:]*]]: index)
// CHECK:       %[[ROWS:.*]] = arith.cmpi sge, %[[N]], %c32
// CHECK:       %[[COLUMNS:.*]] = arith.cmpi sge, %[[M]], %c32
// CHECK:       %[[BOTH:.*]] = arith.andi %[[ROWS]], %[[COLUMNS]]
// CHECK:       %[[TERMS:.*]] = arith.cmpi sge, %[[K]], %c32
// CHECK:       %[[LARGE:.*]] = arith.andi %[[BOTH]], %[[TERMS]]
// CHECK:       scf.if %[[LARGE]] {
// CHECK:         %[[DOWN:.*]] = arith.ceildivui %[[N]], %c128
// CHECK:         %[[ACROSS:.*]] = arith.ceildivui %[[M]], %c128
// CHECK:         %[[TILES:.*]] = arith.muli %[[ACROSS]], %[[DOWN]]
// CHECK:         %[[MANY:.*]] = arith.cmpi uge, %[[TILES]], %c128
// CHECK:         scf.if %[[MANY]] {
// CHECK:           %[[PITCH_A:.*]] = memref.dim %[[A]], %c1
// CHECK:           %[[REST_A:.*]] = arith.remui %[[PITCH_A]], %c8
// CHECK:           %[[FITS_A:.*]] = arith.cmpi eq, %[[REST_A]], %c0
// CHECK:           %[[REST_K:.*]] = arith.remui %[[K]], %c8
// CHECK:           %[[FITS_K:.*]] = arith.cmpi eq, %[[REST_K]], %c0
// CHECK:           %[[GROUPS_A:.*]] = arith.andi %[[FITS_A]], %[[FITS_K]]
// CHECK:           %[[PITCH_B:.*]] = memref.dim %[[B]], %c1
// CHECK:           %[[GROUPS_B:.*]] = arith.andi
// CHECK:           gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256{{[^,]*}},
// CHECK-SAME:        workgroup(%[[MEMORY:.*]] : memref<40960xi8, #gpu.address_space<workgroup>>)
// CHECK:             %[[LEFT:.*]] = memref.view %[[MEMORY]][%c0{{.*}} to memref<2x128x40xbf16, #gpu.address_space<workgroup>>
// CHECK:             %[[RIGHT:.*]] = memref.view %[[MEMORY]][%c20480{{.*}} to memref<2x128x40xbf16, #gpu.address_space<workgroup>>
// CHECK:             scf.for %[[STAGE:.*]] = %c0{{.*}} to %c1{{.*}} step
// CHECK:             %[[FIRST_TERM:.*]] = arith.muli %[[STAGE]], %c32
// CHECK:             %[[ANY:.*]] = arith.cmpi ult, %[[FIRST_TERM]], %[[K]]
// CHECK:             scf.if %[[ANY]] {
// CHECK:             %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW:.*]], %[[N]]
// CHECK:             scf.if %[[GROUPS_A]] {
// CHECK:               %[[THERE:.*]] = arith.cmpi ult, %[[COLUMN:.*]], %[[K]]
// CHECK:               %[[COPIES:.*]] = arith.andi %[[INSIDE]], %[[THERE]]
// CHECK:               %[[COUNT:.*]] = arith.select %[[COPIES]], %c8{{.*}}, %c0
// CHECK:               nvgpu.device_async_copy %[[A]][%[[ROW]], %[[COLUMN]]], %[[LEFT]][%[[STAGE]], %{{.*}}], 8, %[[COUNT]] {bypassL1}
// CHECK:             } else {
// CHECK-COUNT-8:       memref.load %[[A]]
// CHECK-COUNT-8:       memref.store %{{.*}}, %[[LEFT]]
// CHECK:             scf.if %[[GROUPS_A]] {
// CHECK:             scf.if %[[GROUPS_B]] {
// CHECK:             scf.if %[[GROUPS_B]] {
// CHECK:             nvvm.cp.async.commit.group
// CHECK:             %[[SUMS:.*]]:16 = scf.for %[[FIRST:.*]] = %{{.*}} to %[[K]] step %c32
// CHECK:               nvvm.cp.async.wait.group 0
// CHECK:               gpu.barrier
// CHECK:               %[[NEXT:.*]] = arith.addi %[[FIRST]], %c32
// CHECK:               %[[MORE:.*]] = arith.cmpi ult, %[[NEXT]], %[[K]]
// CHECK:               scf.if %[[MORE]] {
// CHECK-COUNT-4:         nvgpu.device_async_copy
// CHECK:                 nvvm.cp.async.commit.group
// CHECK-COUNT-4:       nvgpu.ldmatrix %[[LEFT]]{{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK-COUNT-2:       nvgpu.ldmatrix %[[RIGHT]]{{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK-COUNT-16:      nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>)
// CHECK-COUNT-4:       nvgpu.ldmatrix %[[LEFT]]
// CHECK-COUNT-2:       nvgpu.ldmatrix %[[RIGHT]]
// CHECK-COUNT-16:      nvgpu.mma.sync
// CHECK-NOT:           nvgpu.mma.sync
// CHECK:               scf.yield
// CHECK:             gpu.barrier
// CHECK:             %[[STAGED:.*]] = memref.view %[[MEMORY]][%c0{{.*}} to memref<8x16x40xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-16:    memref.store %{{.*}}, %[[STAGED]]
// CHECK:             nvvm.bar.warp.sync
// CHECK:             scf.for %[[OWN:.*]] = %c0{{.*}} to %c16
// CHECK:               %[[TOTAL:.*]] = memref.load %[[STAGED]][%{{.*}}, %[[OWN]], %{{.*}}]
// CHECK:               %[[BEFORE:.*]] = memref.load %[[C]][%[[I:.*]], %[[J:.*]]]
// CHECK:               %[[SUM:.*]] = arith.addf %[[BEFORE]], %[[TOTAL]] : f32
// CHECK:               %[[SIZE:.*]] = math.absf %[[SUM]]
// CHECK:               memref.store %[[SIZE]], %[[C]][%[[I]], %[[J]]]
// CHECK:             nvvm.bar.warp.sync
// CHECK-COUNT-3:     math.absf
// CHECK-NOT:         math.absf
// CHECK:             gpu.terminator
// CHECK-NEXT:      } {nvvm.minctasm = 2 : i32}
// CHECK:         } else {
// CHECK:           gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c128{{[^,]*}},
// CHECK-SAME:        workgroup(%{{.*}} : memref<40960xi8, #gpu.address_space<workgroup>>)
// CHECK:             memref.view {{.*}} to memref<4x64x40xbf16
// CHECK:             nvvm.cp.async.wait.group 2
// CHECK-COUNT-16:    nvgpu.mma.sync
// CHECK-NOT:         nvgpu.mma.sync
// CHECK:           } {nvvm.minctasm = 4 : i32}
// CHECK:       } else {
// CHECK:         gpu.launch
// CHECK-NOT:       workgroup
// CHECK:           arith.mulf
// CHECK:         } {nvvm.minctasm = 4 : i32}
func.func @product(%a: memref<?x?xbf16, #device>, %b: memref<?x?xbf16, #device>, %c: memref<?x?xf32, #device>, %n: index, %m: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %before = memref.load %c[%i, %j] : memref<?x?xf32, #device>
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 1, %k from %before
        : memref<?x?xbf16, #device>, memref<?x?xbf16, #device>, f32
    %r = math.absf %s : f32
    memref.store %r, %c[%i, %j] : memref<?x?xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>
#part = strided<[64, 1], offset: 4>

// Of extents that are known nothing is left to decide. Groups divide the rows of the left factor; those of the
// right one, which is a part of a matrix, begin anywhere. A sum that begins with
// zero is what is added.

// CHECK-LABEL: func.func @known(
// CHECK-SAME:    %[[A:[^:]*]]: memref<48x64xf16, {{[^,]*}}, %[[B:[^:]*]]: memref<48x56xf16
// CHECK-NOT:   nvgpu.mma.sync
// CHECK:       gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c128{{[^,]*}},
// CHECK-SAME:    workgroup(%{{.*}} : memref<36864xi8
// CHECK:         %[[LEFT:.*]] = memref.view {{.*}} to memref<4x32x72xf16
// CHECK:         %[[RIGHT:.*]] = memref.view {{.*}} to memref<4x32x72xf16
// CHECK-NOT:     memref.load
// CHECK-COUNT-2: nvgpu.device_async_copy %[[A]]
// CHECK-NOT:     nvgpu.device_async_copy
// CHECK-COUNT-16: memref.load %[[B]]
// CHECK:         scf.for
// CHECK-COUNT-2:   nvgpu.ldmatrix %[[LEFT]]{{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK-COUNT-2:   nvgpu.ldmatrix %[[RIGHT]]{{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK-COUNT-16:  nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>)
// CHECK-NOT:       nvgpu.mma.sync
// CHECK:         %[[TOTAL:.*]] = memref.load {{.*}}memref<4x16x40xf32
// CHECK-NEXT:    %[[NARROW:.*]] = arith.truncf %[[TOTAL]] : f32 to f16
// CHECK-NEXT:    memref.store %[[NARROW]]
// CHECK:       } {nvvm.minctasm = 4 : i32}
// CHECK-NOT:   gpu.launch
// CHECK-LABEL: func.func @many(
// CHECK:       gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256
// CHECK:         nvgpu.mma.sync
// CHECK:       } {nvvm.minctasm = 2 : i32}
// CHECK-NOT:   nvgpu.mma.sync
// CHECK:       return
func.func @known(%a: memref<48x64xf16, #device>, %b: memref<48x56xf16, #part, #device>, %c: memref<64x56xf16, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %m = arith.constant 56 : index
  %k = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %s = sparse_autograd.inner_product %b[%j] along 0, %a[%i] along 0, %k from %zero
          : memref<48x56xf16, #part, #device>, memref<48x64xf16, #device>, f32
      %r = arith.truncf %s : f32 to f16
      memref.store %r, %c[%i, %j] : memref<64x56xf16, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
func.func @many(%a: memref<2048x64xf16, #device>, %b: memref<64x1024xf16, #device>, %c: memref<2048x1024xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2048 : index
  %m = arith.constant 1024 : index
  %k = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %k from %zero
        : memref<2048x64xf16, #device>, memref<64x1024xf16, #device>, f32
    memref.store %s, %c[%i, %j] : memref<2048x1024xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Several matrices are one launch, whatever dimension they lie along: a block is of
// one of them, the first of as many as one matrix has. Rows that are not side by side
// in memory are copied element by element.

// CHECK-LABEL: func.func @batch(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x?x?xbf16, {{[^,]*}}, %[[B:[^:]*]]: memref<?x?x?xbf16, {{[^,]*}}, %[[C:[^:]*]]: memref<?x?x?xf32, {{[^,]*}}, %[[BATCH:[^:]*]]: index, %[[N:[^:]*]]: index, %[[M:[^:]*]]: index, %[[K:[^:]*]]: index)
// CHECK:       %[[DOWN:.*]] = arith.ceildivui %[[N]], %c128
// CHECK:       %[[ACROSS:.*]] = arith.ceildivui %[[M]], %c128
// CHECK:       %[[OF_ONE:.*]] = arith.muli %[[ACROSS]], %[[DOWN]]
// CHECK:       %[[ALL:.*]] = arith.muli %[[OF_ONE]], %[[BATCH]]
// CHECK:       arith.cmpi uge, %[[ALL]], %c128
// CHECK:       gpu.launch blocks(%[[BLOCK:[^,]*]],
// CHECK:         %[[NUMBER:.*]] = arith.index_castui %[[BLOCK]] : index to i32
// CHECK:         %[[PER:.*]] = arith.index_castui %{{.*}} : index to i32
// CHECK:         %[[MATRIX32:.*]] = arith.divui %[[NUMBER]], %[[PER]] : i32
// CHECK:         %[[MATRIX:.*]] = arith.index_castui %[[MATRIX32]] : i32 to index
// CHECK:         nvgpu.device_async_copy %[[A]][%[[MATRIX]], %{{.*}}, %{{.*}}]
// CHECK-NOT:     nvgpu.device_async_copy %[[B]]
// CHECK-COUNT-8: memref.load %[[B]][%{{.*}}, %{{.*}}, %[[MATRIX]]]
// CHECK:         nvgpu.mma.sync
// CHECK:         memref.store %{{.*}}, %[[C]][%[[MATRIX]], %{{.*}}, %{{.*}}]
// CHECK:         gpu.terminator
func.func @batch(%a: memref<?x?x?xbf16, #device>, %b: memref<?x?x?xbf16, #device>, %c: memref<?x?x?xf32, #device>, %batch: index, %n: index, %m: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%z, %i, %j) = (%c0, %c0, %c0) to (%batch, %n, %m) step (%c1, %c1, %c1) {
    %s = sparse_autograd.inner_product %b[%j, %z] along 0, %a[%z, %i] along 2, %k from %zero
        : memref<?x?x?xbf16, #device>, memref<?x?x?xbf16, #device>, f32
    memref.store %s, %c[%z, %i, %j] : memref<?x?x?xf32, #device>
  }
  return
}
