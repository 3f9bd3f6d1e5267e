// RUN: sparse-opt %s --pass-pipeline="builtin.module(gpu.module(sparse-autograd-kernel-to-nvvm))" | FileCheck %s

// What a loop says of its unrolling is said to LLVM.

// CHECK:       #[[UNROLL:.*]] = #llvm.loop_unroll<count = 4 : i32>
// CHECK:       #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
// CHECK-LABEL: llvm.func @fill(
// CHECK:         llvm.br ^{{.*}} {loop_annotation = #[[LOOP]]}
#annotation = #llvm.loop_annotation<unroll = <count = 4 : i32>>
gpu.module @kernels {
  gpu.func @fill(%n: index, %x: memref<?xf32>) kernel {
    %one = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      memref.store %one, %x[%i] : memref<?xf32>
    } {llvm.loop_annotation = #annotation}
    gpu.return
  }
}
