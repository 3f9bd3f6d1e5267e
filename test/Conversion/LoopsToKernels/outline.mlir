// RUN: sparse-opt %s --sparse-autograd-outline-kernels | FileCheck %s

// The kernels of two functions are in one module, each with a name of its own.

// CHECK-LABEL: func.func @f(
// CHECK:       gpu.launch_func @kernels::@[[FIRST:f_kernel]] blocks
// CHECK:       gpu.launch_func @kernels::@[[SECOND:f_kernel_[0-9]+]] blocks
// CHECK-LABEL: func.func @g(
// CHECK:       gpu.launch_func @kernels::@[[THIRD:g_kernel]] blocks
// CHECK:       gpu.module @kernels
// CHECK-DAG:   gpu.func @[[FIRST]](
// CHECK-DAG:   gpu.func @[[SECOND]](
// CHECK-DAG:   gpu.func @[[THIRD]](
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

// Without kernels there is no module of them.
// CHECK-NOT: gpu.module
