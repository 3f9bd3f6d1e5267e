// RUN: sparse-opt %s --split-input-file --sparse-autograd-outline-kernels | FileCheck %s

// The kernels of two functions are in one module, each with a name of its own.
// They make the constants that they use.

// CHECK-LABEL: func.func @f(
// CHECK:       gpu.launch_func @kernels::@[[FIRST:f_kernel]] blocks
// CHECK:       gpu.launch_func @kernels::@[[SECOND:f_kernel_[0-9]+]] blocks
// CHECK-LABEL: func.func @g(
// CHECK:       gpu.launch_func @kernels::@[[THIRD:g_kernel]] blocks
// CHECK:       gpu.module @kernels
// CHECK:       gpu.func @[[FIRST]](%{{.*}}: memref<?xf32, #gpu.address_space<global>>, %{{.*}}: index) kernel
// CHECK:         arith.constant 1.0
// CHECK:       gpu.func @[[SECOND]](%{{.*}}: memref<?xf32, #gpu.address_space<global>>) kernel
// CHECK:         arith.constant 1.0
// CHECK:       gpu.func @[[THIRD]](
// CHECK-NOT:   gpu.module
func.func @f(%x: memref<?xf32, #gpu.address_space<global>>, %i: index) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %one, %x[%i] : memref<?xf32, #gpu.address_space<global>>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %one, %x[%tx] : memref<?xf32, #gpu.address_space<global>>
    gpu.terminator
  }
  return
}
func.func @g(%x: memref<?xf32, #gpu.address_space<global>>, %i: index) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %one, %x[%i] : memref<?xf32, #gpu.address_space<global>>
    gpu.terminator
  }
  return
}

// -----

// Blocks of a size that is known have as many threads, others 256 at most.

// CHECK-LABEL: func.func @known(
// CHECK:       gpu.func @known_kernel({{.*}} kernel attributes {known_block_size = array<i32: 32, 4, 1>, {{.*}}nvvm.minctasm = 4 : i32} {
// CHECK:       gpu.func @any_kernel({{.*}} kernel attributes {nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 4 : i32} {
func.func @known(%x: memref<?xf32, #gpu.address_space<global>>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c4, %sz = %c1) {
    memref.store %one, %x[%tx] : memref<?xf32, #gpu.address_space<global>>
    gpu.terminator
  } {nvvm.minctasm = 4 : i32}
  return
}
func.func @any(%x: memref<?xf32, #gpu.address_space<global>>, %n: index) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    memref.store %one, %x[%tx] : memref<?xf32, #gpu.address_space<global>>
    gpu.terminator
  } {nvvm.minctasm = 4 : i32}
  return
}

// -----

// Without kernels there is no module of them.
// CHECK-NOT: gpu.module
func.func @none() {
  return
}
