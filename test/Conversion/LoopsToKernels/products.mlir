// RUN: sparse-opt %s --split-input-file --sparse-autograd-loops-to-kernels | FileCheck %s

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
// CHECK-NEXT:    } {sparse_autograd.small_blocks = 2 : i32}
// CHECK:       } else {
// CHECK:         gpu.launch
// CHECK-NOT:       workgroup
// CHECK:           arith.mulf
// CHECK:         } {sparse_autograd.small_blocks = 4 : i32}
func.func @product(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %c: memref<?x?xf32, #device>, %n: index, %m: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %s = scf.for %l = %c0 to %k step %c1 iter_args(%o = %zero) -> f32 {
      %u = memref.load %a[%i, %l] : memref<?x?xf32, #device>
      %v = memref.load %b[%j, %l] : memref<?x?xf32, #device>
      %p = arith.mulf %u, %v : f32
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

// Of extents that are known the host has nothing to decide; f64 has 4 sums. What
// a sum begins with is read first.

// CHECK-LABEL: func.func @known(
// CHECK:       scf.if %true
// CHECK:         gpu.launch
// CHECK-SAME:      memref<16x34xf64
// CHECK-COUNT-4: memref.load %arg2
// CHECK-NOT:     memref.load %arg2
// CHECK:         scf.for
// CHECK-COUNT-4:   math.fma
// CHECK-NOT:       math.fma
// CHECK:         } else {
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
      %s = scf.for %l = %c0 to %k step %c1 iter_args(%o = %before) -> f64 {
        %v = memref.load %b[%l, %j] : memref<32x48xf64, #device>
        %u = memref.load %a[%i, %l] : memref<64x32xf64, #device>
        %p = arith.mulf %v, %u : f64
        %t = arith.addf %p, %o fastmath<reassoc> : f64
        scf.yield %t : f64
      }
      memref.store %s, %c[%i, %j] : memref<64x48xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
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
    %s = scf.for %l = %c0 to %k step %c1 iter_args(%o = %zero) -> f32 {
      %u = memref.load %a[%i, %l] : memref<64x8xf32, #device>
      %v = memref.load %b[%l, %j] : memref<8x48xf32, #device>
      %p = arith.mulf %u, %v : f32
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %c[%i, %j] : memref<64x48xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// What is no such product: a factor that depends on more, a sum that begins with
// another element, one of f16, one of something else, a row that is read between
// the loops.

// CHECK-LABEL: func.func @others(
// CHECK-NOT:   workgroup
// CHECK:       return
func.func @others(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %c: memref<?x?xf32, #device>, %h: memref<?x?xf16, #device>, %r: memref<?xindex, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zero16 = arith.constant 0.0 : f16
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = scf.for %l = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
      %u = memref.load %a[%i, %j] : memref<?x?xf32, #device>
      %v = memref.load %b[%l, %j] : memref<?x?xf32, #device>
      %p = arith.mulf %u, %v : f32
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = scf.for %l = %c0 to %n step %c1 iter_args(%o = %zero16) -> f16 {
      %u = memref.load %h[%i, %l] : memref<?x?xf16, #device>
      %v = memref.load %h[%l, %j] : memref<?x?xf16, #device>
      %p = arith.mulf %u, %v : f16
      %t = arith.addf %o, %p fastmath<reassoc> : f16
      scf.yield %t : f16
    }
    memref.store %s, %h[%i, %j] : memref<?x?xf16, #device>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %s = scf.for %l = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
      %u = memref.load %a[%i, %l] : memref<?x?xf32, #device>
      %v = memref.load %b[%l, %j] : memref<?x?xf32, #device>
      %p = arith.subf %u, %v : f32
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %c[%i, %j] : memref<?x?xf32, #device>
  }
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %r[%i] : memref<?xindex, #device>
    scf.for %j = %c0 to %n step %c1 {
      %s = scf.for %l = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
        %u = memref.load %a[%i, %l] : memref<?x?xf32, #device>
        %v = memref.load %b[%l, %j] : memref<?x?xf32, #device>
        %p = arith.mulf %u, %v : f32
        %t = arith.addf %o, %p fastmath<reassoc> : f32
        scf.yield %t : f32
      }
      memref.store %s, %c[%row, %j] : memref<?x?xf32, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}
