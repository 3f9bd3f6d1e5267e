; What the emulator cannot execute: each is refused, with its place.

; RUN: split-file %s %t
; RUN: not emulate-kernel %t/intrinsic.ll 2>&1 | FileCheck %t/intrinsic.ll
; RUN: not emulate-kernel %t/assembly.ll 2>&1 | FileCheck %t/assembly.ll
; RUN: not emulate-kernel %t/undefined.ll 2>&1 | FileCheck %t/undefined.ll
; RUN: not emulate-kernel %t/fence.ll 2>&1 | FileCheck %t/fence.ll
; RUN: not emulate-kernel %t/product.ll 2>&1 | FileCheck %t/product.ll
; RUN: not emulate-kernel %t/pointer.ll 2>&1 | FileCheck %t/pointer.ll
; RUN: not emulate-kernel %t/by-value.ll 2>&1 | FileCheck %t/by-value.ll
; RUN: not emulate-kernel %t/host.ll 2>&1 | FileCheck %t/host.ll
; RUN: not emulate-kernel %t/module-assembly.ll 2>&1 \
; RUN: | FileCheck %t/module-assembly.ll
; RUN: not emulate-kernel %t/no-kernel.ll --kernel=g 2>&1 \
; RUN: | FileCheck %t/no-kernel.ll

;--- intrinsic.ll
; CHECK: error: the emulator cannot execute this code: the intrinsic 'llvm.nvvm.griddepcontrol.wait' is not emulated [@f:2: call void @llvm.nvvm.griddepcontrol.wait()]
target triple = "nvptx64-nvidia-cuda"
declare void @llvm.nvvm.griddepcontrol.wait()
define ptx_kernel void @f(i32 %x) {
  %y = add i32 %x, 1
  call void @llvm.nvvm.griddepcontrol.wait()
  ret void
}

;--- assembly.ll
; CHECK: error: the emulator cannot execute this code: inline assembly is not emulated [@f:1: call void asm sideeffect "membar.cta;", ""()]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @f() {
  call void asm sideeffect "membar.cta;", ""()
  ret void
}

;--- undefined.ll
; CHECK: error: the emulator cannot execute this code: nothing defines the function '__nv_j0' [@f:1: %y = call double @__nv_j0(double %x)]
target triple = "nvptx64-nvidia-cuda"
declare double @__nv_j0(double)
define ptx_kernel void @f(double %x) {
  %y = call double @__nv_j0(double %x)
  ret void
}

;--- fence.ll
; A fence without sums.
; CHECK: error: the emulator cannot execute this code: nothing defines the function 'sparse_autograd.wgmma.fence.sync.aligned.' [@f:1:
target triple = "nvptx64-nvidia-cuda"
declare void @sparse_autograd.wgmma.fence.sync.aligned.()
define ptx_kernel void @f() {
  call void @sparse_autograd.wgmma.fence.sync.aligned.()
  ret void
}

;--- product.ll
; Two sums for a product of 64 by 16, of which a thread has eight.
; CHECK: error: the emulator cannot execute this code: nothing defines the function 'sparse_autograd.wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16' [@f:1:
target triple = "nvptx64-nvidia-cuda"
declare {float, float} @sparse_autograd.wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16({float, float}, i64, i64, i32, i32, i32, i32, i32)
define ptx_kernel void @f() {
  %y = call {float, float} @sparse_autograd.wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16({float, float} zeroinitializer, i64 0, i64 0, i32 0, i32 1, i32 1, i32 0, i32 0)
  ret void
}

;--- pointer.ll
; CHECK: error: the emulator cannot execute this code: calls of pointers are not emulated [@f:1: call void %p()]
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @f(ptr %p) {
  call void %p()
  ret void
}

;--- by-value.ll
; CHECK: error: the emulator cannot execute this code: the parameter 1 of 'f', which is no kernel, is passed by value
target triple = "nvptx64-nvidia-cuda"
define void @f(i32 %x, ptr byval(i64) %p) {
  ret void
}

;--- host.ll
; CHECK: error: the emulator executes code for nvptx64, not for 'x86_64-unknown-linux-gnu'
target triple = "x86_64-unknown-linux-gnu"
define void @f() {
  ret void
}

;--- module-assembly.ll
; CHECK: error: the emulator cannot execute this code: it has assembly outside of functions
target triple = "nvptx64-nvidia-cuda"
module asm ".global .b8 x;"

;--- no-kernel.ll
; CHECK: error: there is no kernel 'g'
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @f() {
  ret void
}
define void @g() {
  ret void
}
