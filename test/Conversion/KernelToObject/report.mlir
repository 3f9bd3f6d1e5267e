// What an assembler says of kernels is said at the kernels.

// RUN: sparse-opt %s --sparse-autograd-kernel-to-object="chips=sm_90 toolkit=%S/Inputs/spilling report=true" --verify-diagnostics | FileCheck %s

// CHECK: gpu.binary @kernels {{.*}}#gpu.object<#nvvm.target<O = 3, chip = "sm_90">, bin = "some code\0A">]
gpu.module @kernels {
  // expected-remark @below {{first on sm_90: 255 registers, 16 bytes of stack, 64 bytes spilled, 1024 bytes of shared memory}}
  llvm.func @first() attributes {nvvm.kernel} {
    llvm.return
  }
  // expected-remark @below {{second on sm_90: 12 registers, 0 bytes of stack, 0 bytes spilled, 0 bytes of shared memory}}
  llvm.func @second() attributes {nvvm.kernel} {
    llvm.return
  }
}
