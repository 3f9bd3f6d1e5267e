// Numbers of 64 bits are accessed by one instruction each, and neighbours of what
// is known to be aligned by one together.

// RUN: sparse-opt %s --pass-pipeline="builtin.module(gpu.module(sparse-autograd-kernel-to-nvvm),sparse-autograd-kernel-to-object{ptx=sm_80})" | FileCheck %s

// CHECK: .visible .entry one(
// CHECK-SAME: ld.global.b64
// CHECK-NOT: ld.global
// CHECK-SAME: .visible .entry four(
// CHECK-SAME: ld.global.v4.b32
// CHECK-SAME: ld.global.b32
// CHECK-SAME: st.global.v4.b32
gpu.module @kernels {
  gpu.func @one(%x: memref<?xindex, #gpu.address_space<global>>, %y: memref<?xf64, #gpu.address_space<global>>) kernel {
    %i = gpu.thread_id x
    %zero = arith.constant 0.0 : f64
    %v = memref.load %x[%i] : memref<?xindex, #gpu.address_space<global>>
    memref.store %zero, %y[%v] : memref<?xf64, #gpu.address_space<global>>
    gpu.return
  }
  gpu.func @four(%x: memref<?x8xf32, #gpu.address_space<global>>, %m: memref<?x8xi1, #gpu.address_space<global>>) kernel {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %b = memref.assume_alignment %x, 16 : memref<?x8xf32, #gpu.address_space<global>>
    %n = memref.assume_alignment %m, 16 : memref<?x8xi1, #gpu.address_space<global>>
    %i = gpu.thread_id y
    %t = gpu.thread_id x
    %j = arith.muli %t, %c4 : index
    %j1 = arith.addi %j, %c1 : index
    %j2 = arith.addi %j, %c2 : index
    %j3 = arith.addi %j, %c3 : index
    %v0 = memref.load %b[%i, %j] : memref<?x8xf32, #gpu.address_space<global>>
    %v1 = memref.load %b[%i, %j1] : memref<?x8xf32, #gpu.address_space<global>>
    %v2 = memref.load %b[%i, %j2] : memref<?x8xf32, #gpu.address_space<global>>
    %v3 = memref.load %b[%i, %j3] : memref<?x8xf32, #gpu.address_space<global>>
    %m0 = memref.load %n[%i, %j] : memref<?x8xi1, #gpu.address_space<global>>
    %m1 = memref.load %n[%i, %j1] : memref<?x8xi1, #gpu.address_space<global>>
    %m2 = memref.load %n[%i, %j2] : memref<?x8xi1, #gpu.address_space<global>>
    %m3 = memref.load %n[%i, %j3] : memref<?x8xi1, #gpu.address_space<global>>
    %s0 = arith.select %m0, %v0, %zero : f32
    %s1 = arith.select %m1, %v1, %zero : f32
    %s2 = arith.select %m2, %v2, %zero : f32
    %s3 = arith.select %m3, %v3, %zero : f32
    memref.store %s0, %b[%i, %j] : memref<?x8xf32, #gpu.address_space<global>>
    memref.store %s1, %b[%i, %j1] : memref<?x8xf32, #gpu.address_space<global>>
    memref.store %s2, %b[%i, %j2] : memref<?x8xf32, #gpu.address_space<global>>
    memref.store %s3, %b[%i, %j3] : memref<?x8xf32, #gpu.address_space<global>>
    gpu.return
  }
}
