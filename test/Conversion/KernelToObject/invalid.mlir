// RUN: split-file %s %t
// RUN: sparse-opt %t/none.mlir --sparse-autograd-kernel-to-object --verify-diagnostics
// RUN: sparse-opt %t/targets.mlir --sparse-autograd-kernel-to-object=ptx=sm_90 --verify-diagnostics
// RUN: not sparse-opt %t/function.mlir --sparse-autograd-kernel-to-object="ptx=sm_90 toolkit=%t/none" 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not sparse-opt %t/empty.mlir --sparse-autograd-kernel-to-object="chips=sm_90 toolkit=%t/none" 2>&1 | FileCheck %s --check-prefix=TOOLKIT
// RUN: not sparse-opt %t/empty.mlir --sparse-autograd-kernel-to-object="chips=sm_90 toolkit=%S/Inputs/failing" 2>&1 | FileCheck %s --check-prefix=FAILING
// RUN: not sparse-opt %t/empty.mlir --sparse-autograd-kernel-to-object="ptx=gfx90a" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not sparse-opt %t/instruction.mlir --sparse-autograd-kernel-to-object="ptx=sm_90a" 2>&1 | FileCheck %s --check-prefix=INSTRUCTION
// RUN: not sparse-opt %t/shape.mlir --sparse-autograd-kernel-to-object="ptx=sm_90a" 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not sparse-opt %t/types.mlir --sparse-autograd-kernel-to-object="ptx=sm_90a" 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: not sparse-opt %t/address.mlir --sparse-autograd-kernel-to-object="ptx=sm_90a" 2>&1 | FileCheck %s --check-prefix=ADDRESS
// RUN: not sparse-opt %t/mode.mlir --sparse-autograd-kernel-to-object="ptx=sm_90a" 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not sparse-opt %t/transposed.mlir --sparse-autograd-kernel-to-object="ptx=sm_90a" 2>&1 | FileCheck %s --check-prefix=TRANSPOSED

//--- none.mlir
// expected-error @below {{no chip is named: set the option 'chips', 'ptx' or 'bitcode' of sparse-autograd-kernel-to-object}}
module {
}

//--- targets.mlir
// A program does not name flags of the assembler, nor libraries.
// expected-error @below {{has targets of its own; chips are chosen by the options of sparse-autograd-kernel-to-object}}
gpu.module @kernels [#nvvm.target<chip = "sm_90", flags = {"ptxas-cmd-options" = "--version"}>] {
}

//--- function.mlir
// FUNCTION: function.mlir:{{.*}}error: 'gpu.module' op calls '__nv_expf', which nothing defines; libdevice would, but there is none at '{{.*}}libdevice.10.bc': name the folder of a CUDA toolkit with 'toolkit'
gpu.module @kernels {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @f(%x: !llvm.ptr) attributes {nvvm.kernel} {
    %v = llvm.load %x : !llvm.ptr -> f32
    %y = llvm.call @__nv_expf(%v) : (f32) -> f32
    llvm.store %y, %x : f32, !llvm.ptr
    llvm.return
  }
}

//--- empty.mlir
// TOOLKIT: empty.mlir:{{.*}}error: there is no assembler at '{{.*}}none/bin/ptxas'; name the folder of a CUDA toolkit with 'toolkit', or ask for PTX alone
// FAILING: empty.mlir:{{.*}}error: '{{.*}}failing/bin/ptxas' failed for sm_90: ptxas fatal   : this is no chip of mine
// CHIP: empty.mlir:{{.*}}error: 'gpu.module' op cannot be compiled: 'gfx90a' is no chip of NVIDIA's that LLVM knows; they have names such as sm_80 and sm_90a
gpu.module @kernels {
  llvm.func @f() attributes {nvvm.kernel} {
    llvm.return
  }
}

//--- instruction.mlir
// INSTRUCTION: instruction.mlir:{{.*}}error: 'gpu.module' op calls 'sparse_autograd.nothing', which is no instruction of that form
gpu.module @kernels {
  llvm.func @sparse_autograd.nothing()
  llvm.func @f() attributes {nvvm.kernel} {
    llvm.call @sparse_autograd.nothing() : () -> ()
    llvm.return
  }
}

//--- shape.mlir
// Four sums for a product of 64 by 16, of which a thread has eight.
// SHAPE: error: 'gpu.module' op calls 'sparse_autograd.wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16', which is no instruction of that form
gpu.module @kernels {
  llvm.func @sparse_autograd.wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16(!llvm.struct<(f32, f32, f32, f32)>, i64, i64, i32, i32, i32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.func @f(%x: !llvm.ptr, %a: i64, %n: i32) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %sums = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    %y = llvm.call @sparse_autograd.wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16(%sums, %a, %a, %n, %one, %one, %zero, %zero) : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64, i32, i32, i32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %y, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr
    llvm.return
  }
}

//--- types.mlir
// TYPES: error: 'gpu.module' op calls 'sparse_autograd.wgmma.wait_group.sync.aligned.f32x4', which is no instruction of that form
gpu.module @kernels {
  llvm.func @sparse_autograd.wgmma.wait_group.sync.aligned.f32x4(!llvm.struct<(f32, f32, f32, f32)>, i64) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.func @f(%x: !llvm.ptr) attributes {nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %sums = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    %y = llvm.call @sparse_autograd.wgmma.wait_group.sync.aligned.f32x4(%sums, %zero) : (!llvm.struct<(f32, f32, f32, f32)>, i64) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %y, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr
    llvm.return
  }
}

//--- address.mlir
// ADDRESS: error: 'gpu.module' op takes the address of 'sparse_autograd.wgmma.fence.sync.aligned.f32x1', which is an instruction
gpu.module @kernels {
  llvm.func @sparse_autograd.wgmma.fence.sync.aligned.f32x1(!llvm.struct<(f32)>) -> !llvm.struct<(f32)>
  llvm.func @f(%x: !llvm.ptr) attributes {nvvm.kernel} {
    %fence = llvm.mlir.addressof @sparse_autograd.wgmma.fence.sync.aligned.f32x1 : !llvm.ptr
    llvm.store %fence, %x : !llvm.ptr, !llvm.ptr
    llvm.return
  }
}

//--- mode.mlir
// MODE: error: 'gpu.module' op operand 4 of 'sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16' must be a constant
gpu.module @kernels {
  llvm.func @sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16(!llvm.struct<(f32, f32, f32, f32)>, i64, i64, i32, i32, i32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.func @f(%x: !llvm.ptr, %a: i64, %n: i32) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %sums = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    %y = llvm.call @sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16(%sums, %a, %a, %n, %n, %one, %zero, %zero) : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64, i32, i32, i32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %y, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr
    llvm.return
  }
}

//--- transposed.mlir
// TRANSPOSED: error: 'gpu.module' op 'sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32' cannot transpose a matrix
gpu.module @kernels {
  llvm.func @sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32(!llvm.struct<(f32, f32, f32, f32)>, i64, i64, i32, i32, i32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.func @f(%x: !llvm.ptr, %a: i64, %n: i32) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %sums = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    %y = llvm.call @sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32(%sums, %a, %a, %n, %one, %one, %zero, %one) : (!llvm.struct<(f32, f32, f32, f32)>, i64, i64, i32, i32, i32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %y, %x : !llvm.struct<(f32, f32, f32, f32)>, !llvm.ptr
    llvm.return
  }
}
