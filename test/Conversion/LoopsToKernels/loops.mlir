// RUN: sparse-opt %s --sparse-autograd-loops-to-kernels | FileCheck %s

#device = #gpu.address_space<global>

// A thread for each iteration of two loops; neighbouring threads are neighbours
// in the last dimension. The inner loop is one of the thread.
// CHECK-LABEL: func.func @product(
func.func @product(%a: memref<?x?xf32, #device>, %x: memref<?xf32, #device>, %y: memref<?x?xf32, #device>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: %[[ROWS:.*]] = arith.maxsi
  // CHECK: %[[COLUMNS:.*]] = arith.maxsi
  // CHECK: %[[TOTAL:.*]] = arith.muli
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[TOTAL]], %{{.*}}
  // CHECK: gpu.launch blocks(%[[B:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]], {{.*}}) threads(%[[T:[^,]*]], {{.*}}) in (%{{.*}} = %c256{{.*}},
  // CHECK: %[[FIRST:.*]] = arith.muli %[[B]]
  // CHECK: %[[I:.*]] = arith.addi %[[FIRST]], %[[T]]
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[TOTAL]]
  // CHECK: scf.if %[[INSIDE]]
  // CHECK: %[[COLUMN:.*]] = arith.remui %[[I]], %[[COLUMNS]]
  // CHECK: %[[ROW:.*]] = arith.divui %[[I]], %[[COLUMNS]]
  // CHECK: arith.muli %[[ROW]], %c2
  // CHECK: scf.for
  // CHECK-NOT: scf.parallel
  // CHECK: gpu.terminator
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c2, %c1) {
    scf.parallel (%k) = (%c0) to (%m) step (%c1) {
      %u = memref.load %a[%i, %k] : memref<?x?xf32, #device>
      %v = memref.load %x[%k] : memref<?xf32, #device>
      %p = arith.mulf %u, %v : f32
      %s = memref.load %y[%i, %j] : memref<?x?xf32, #device>
      %t = arith.addf %s, %p : f32
      memref.store %t, %y[%i, %j] : memref<?x?xf32, #device>
    }
  }
  return
}

// A sum is one of one thread; the host reads it, and decides by it.
// CHECK-LABEL: func.func @sum(
func.func @sum(%x: memref<?xf32, #device>, %y: memref<?xf32, #device>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[PLACE:.*]] = memref.alloc() : memref<f32, #gpu.address_space<global>>
  // CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c1{{.*}}) threads({{.*}}) in (%{{.*}} = %c1
  // CHECK: %[[SUM:.*]] = scf.for
  // CHECK: memref.store %[[SUM]], %[[PLACE]][]
  // CHECK: gpu.terminator
  // CHECK: %[[ELEMENT:.*]] = memref.subview %[[PLACE]]
  // CHECK: %[[HOST:.*]] = memref.alloca() : memref<f32>
  // CHECK: memref.copy %[[ELEMENT]], %[[HOST]]
  // CHECK: %[[S:.*]] = memref.load %[[HOST]][] : memref<f32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32, #device>
    %t = arith.addf %o, %v : f32
    scf.yield %t : f32
  }
  // CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[S]]
  // CHECK: scf.if %[[IS]]
  // CHECK: gpu.launch
  %is = arith.cmpf ogt, %s, %zero : f32
  scf.if %is {
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf32, #device>
      memref.store %v, %y[%i] : memref<?xf32, #device>
    } {sparse_autograd.parallel}
  }
  // CHECK: return %[[S]]
  return %s : f32
}

// Of the host nothing changes.
// CHECK-LABEL: func.func @host(
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @host(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return
}
