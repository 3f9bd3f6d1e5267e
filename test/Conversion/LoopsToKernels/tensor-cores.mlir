// RUN: sparse-opt %s --split-input-file --sparse-autograd-loops-to-kernels | FileCheck %s

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
// CHECK:         %[[TILES:.*]] = arith.muli %[[DOWN]], %[[ACROSS]]
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
// CHECK-NEXT:      } {sparse_autograd.small_blocks = 2 : i32}
// CHECK:         } else {
// CHECK:           gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c128{{[^,]*}},
// CHECK-SAME:        workgroup(%{{.*}} : memref<40960xi8, #gpu.address_space<workgroup>>)
// CHECK:             memref.view {{.*}} to memref<4x64x40xbf16
// CHECK:             nvvm.cp.async.wait.group 2
// CHECK-COUNT-16:    nvgpu.mma.sync
// CHECK-NOT:         nvgpu.mma.sync
// CHECK:           } {sparse_autograd.small_blocks = 4 : i32}
// CHECK:       } else {
// CHECK:         gpu.launch
// CHECK-NOT:       workgroup
// CHECK:           arith.mulf
// CHECK:         } {sparse_autograd.small_blocks = 4 : i32}
func.func @product(%a: memref<?x?xbf16, #device>, %b: memref<?x?xbf16, #device>, %c: memref<?x?xf32, #device>, %n: index, %m: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %before = memref.load %c[%i, %j] : memref<?x?xf32, #device>
    %s = scf.for %l = %c0 to %k step %c1 iter_args(%o = %before) -> f32 {
      %u = memref.load %a[%i, %l] : memref<?x?xbf16, #device>
      %v = memref.load %b[%j, %l] : memref<?x?xbf16, #device>
      %x = arith.extf %u : bf16 to f32
      %y = arith.extf %v : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    %r = math.absf %s : f32
    memref.store %r, %c[%i, %j] : memref<?x?xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>
#part = strided<[64, 1], offset: 4>

// Of extents that are known nothing is left to decide. A product of f16 is added
// without being rounded. Groups divide the rows of the left factor; those of the
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
// CHECK:       } {sparse_autograd.small_blocks = 4 : i32}
// CHECK:       } else {
// CHECK-LABEL: func.func @many(
// CHECK:       gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256
// CHECK:         nvgpu.mma.sync
// CHECK:       } {sparse_autograd.small_blocks = 2 : i32}
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
      %s = scf.for %l = %c0 to %k step %c1 iter_args(%o = %zero) -> f32 {
        %v = memref.load %b[%l, %j] : memref<48x56xf16, #part, #device>
        %u = memref.load %a[%l, %i] : memref<48x64xf16, #device>
        %p = arith.mulf %v, %u : f16
        %w = arith.extf %p : f16 to f32
        %t = arith.addf %w, %o fastmath<reassoc> : f32
        scf.yield %t : f32
      }
      %r = arith.truncf %s : f32 to f16
      memref.store %r, %c[%i, %j] : memref<64x56xf16, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
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
    %s = scf.for %l = %c0 to %k step %c1 iter_args(%o = %zero) -> f32 {
      %u = memref.load %a[%i, %l] : memref<2048x64xf16, #device>
      %v = memref.load %b[%l, %j] : memref<64x1024xf16, #device>
      %p = arith.mulf %u, %v : f16
      %w = arith.extf %p : f16 to f32
      %t = arith.addf %o, %w fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %c[%i, %j] : memref<2048x1024xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// What tensor cores do not compute: factors of two types, a sum whose order is given,
// a sum of f64, a factor that is used otherwise as well.

// CHECK-LABEL: func.func @others(
// CHECK-NOT:   workgroup
// CHECK:       return
func.func @others(%a: memref<?x?xf16, #device>, %b: memref<?x?xf16, #device>, %d: memref<?x?xbf16, #device>, %c: memref<?x?xf32, #device>, %w: memref<?x?xf64, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zero64 = arith.constant 0.0 : f64
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = scf.for %l = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
      %u = memref.load %a[%i, %l] : memref<?x?xf16, #device>
      %v = memref.load %d[%l, %j] : memref<?x?xbf16, #device>
      %x = arith.extf %u : f16 to f32
      %y = arith.extf %v : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = scf.for %l = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
      %u = memref.load %a[%i, %l] : memref<?x?xf16, #device>
      %v = memref.load %b[%l, %j] : memref<?x?xf16, #device>
      %x = arith.extf %u : f16 to f32
      %y = arith.extf %v : f16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %o, %p : f32
      scf.yield %t : f32
    }
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = scf.for %l = %c0 to %n step %c1 iter_args(%o = %zero64) -> f64 {
      %u = memref.load %a[%i, %l] : memref<?x?xf16, #device>
      %v = memref.load %b[%l, %j] : memref<?x?xf16, #device>
      %x = arith.extf %u : f16 to f64
      %y = arith.extf %v : f16 to f64
      %p = arith.mulf %x, %y : f64
      %t = arith.addf %o, %p fastmath<reassoc> : f64
      scf.yield %t : f64
    }
    memref.store %s, %w[%i, %j] : memref<?x?xf64, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = scf.for %l = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
      %u = memref.load %a[%i, %l] : memref<?x?xf16, #device>
      %v = memref.load %b[%l, %j] : memref<?x?xf16, #device>
      %x = arith.extf %u : f16 to f32
      %y = arith.extf %v : f16 to f32
      %z = arith.mulf %x, %y : f32
      %p = arith.mulf %x, %z : f32
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  return
}
