// PTX, for two chips, and bitcode need no toolkit.

// RUN: sparse-opt %s --sparse-autograd-kernel-to-object="ptx=sm_80,sm_90a bitcode=sm_80 toolkit=%t.none" | FileCheck %s

// CHECK: gpu.binary @kernels
// CHECK-SAME: chip = "sm_80"
// CHECK-SAME: assembly = "{{[^"]*}}.target sm_80{{[^"]*}}.visible .entry twice(
// CHECK-SAME: chip = "sm_90a"
// CHECK-SAME: assembly = "{{[^"]*}}.target sm_90a{{[^"]*}}.visible .entry twice(
// CHECK-SAME: chip = "sm_80"
// CHECK-SAME: offload = "BC\C0\DE
// CHECK-NOT: gpu.module
gpu.module @kernels {
  llvm.func @twice(%x: !llvm.ptr) attributes {nvvm.kernel} {
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %place = llvm.getelementptr %x[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v = llvm.load %place : !llvm.ptr -> f32
    %y = llvm.fadd %v, %v : f32
    llvm.store %y, %place : f32, !llvm.ptr
    llvm.return
  }
}
