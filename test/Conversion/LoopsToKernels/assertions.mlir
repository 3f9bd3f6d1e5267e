// RUN: sparse-opt %s --sparse-autograd-loops-to-kernels | FileCheck %s

// An assertion in a kernel keeps its number; what follows it is left out. The
// host asserts before it returns.

#device = #gpu.address_space<global>

// CHECK-LABEL: func.func @gather(
// CHECK:       %[[CELL:.*]] = memref.alloc() : memref<i32, #gpu.address_space<global>>
// CHECK:       %[[HOST:.*]] = memref.alloca() : memref<i32>
// CHECK:       memref.store %c-1_i32, %[[HOST]][]
// CHECK:       memref.copy %[[HOST]], %[[CELL]]
// CHECK:       gpu.launch
// CHECK:         %[[INDEX:.*]] = memref.load
// CHECK:         %[[POSITIVE:.*]] = arith.cmpi sge
// CHECK-NEXT:    scf.if %[[POSITIVE]] {
// CHECK:           %[[SMALL:.*]] = arith.cmpi slt
// CHECK-NEXT:      scf.if %[[SMALL]] {
// CHECK:             memref.load %{{.*}}[%[[INDEX]]]
// CHECK:             memref.store
// CHECK-NEXT:      } else {
// CHECK:             memref.atomic_rmw minu %c1_i32{{[^,]*}}, %[[CELL]][]
// CHECK:         } else {
// CHECK:           memref.atomic_rmw minu %c0_i32{{[^,]*}}, %[[CELL]][]
// CHECK:       gpu.terminator
// CHECK:       memref.copy %[[CELL]], %[[HOST]]
// CHECK:       %[[FAILED:.*]] = memref.load %[[HOST]][]
// CHECK:       %[[NOT_0:.*]] = arith.cmpi ne, %[[FAILED]], %c0_i32{{.*}}
// CHECK:       cf.assert %[[NOT_0]], "too small"
// CHECK:       %[[NOT_1:.*]] = arith.cmpi ne, %[[FAILED]], %c1_i32{{.*}}
// CHECK:       cf.assert %[[NOT_1]], "too large"
// CHECK-NEXT:  memref.dealloc %[[CELL]]
// CHECK-NEXT:  return
func.func @gather(%x: memref<?xf32, #device>, %i: memref<?xindex, #device>, %y: memref<?xf32, #device>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%k) = (%c0) to (%m) step (%c1) {
    %index = memref.load %i[%k] : memref<?xindex, #device>
    %positive = arith.cmpi sge, %index, %c0 : index
    cf.assert %positive, "too small"
    %small = arith.cmpi slt, %index, %n : index
    cf.assert %small, "too large"
    %v = memref.load %x[%index] : memref<?xf32, #device>
    memref.store %v, %y[%k] : memref<?xf32, #device>
  }
  return
}

// What a loop carries on is zero from there.

// CHECK-LABEL: func.func @carried(
// CHECK:       scf.for
// CHECK:         %[[NEXT:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK:           %[[SUM:.*]] = arith.addf
// CHECK:           scf.yield %[[SUM]] : f32
// CHECK:         } else {
// CHECK:           %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:           scf.yield %[[ZERO]] : f32
// CHECK:         scf.yield %[[NEXT]] : f32
func.func @carried(%x: memref<?xf32, #device>, %y: memref<f32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32, #device>
    %is = arith.cmpf oge, %v, %zero : f32
    cf.assert %is, "a negative number"
    %t = arith.addf %o, %v : f32
    scf.yield %t : f32
  }
  memref.store %s, %y[] : memref<f32, #device>
  return
}

// An assertion of the host stops at once.

// CHECK-LABEL: func.func @host(
// CHECK-NOT:   memref.alloc
// CHECK:       cf.assert %{{.*}}, "no elements"
// CHECK:       gpu.launch
// CHECK-NOT:   cf.assert
func.func @host(%x: memref<?xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %some = arith.cmpi sgt, %n, %c0 : index
  cf.assert %some, "no elements"
  memref.store %zero, %x[%c0] : memref<?xf32, #device>
  return
}

// So it does before it works on what kernels have written.

// CHECK-LABEL: func.func @called(
// CHECK:       gpu.launch
// CHECK:       memref.copy {{.*}} : memref<?xindex, #gpu.address_space<global>> to memref<?xindex>
// CHECK-NEXT:  memref.copy {{.*}} : memref<i32, #gpu.address_space<global>> to memref<i32>
// CHECK:       cf.assert %{{.*}}, "too small"
// CHECK-NEXT:  call @read
// CHECK:       cf.assert %{{.*}}, "too small"
// CHECK:       return
func.func private @read(memref<?xindex>)
func.func @called(%x: memref<?xindex, #device>, %h: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%k) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%k] : memref<?xindex, #device>
    %positive = arith.cmpi sge, %v, %c0 : index
    cf.assert %positive, "too small"
    memref.store %c1, %x[%k] : memref<?xindex, #device>
  }
  memref.copy %x, %h : memref<?xindex, #device> to memref<?xindex>
  func.call @read(%h) : (memref<?xindex>) -> ()
  return
}
