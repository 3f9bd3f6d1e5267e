; A parameter that is passed by value can be read, and no byte behind it. (Of a
; tensor map of rank 1 the last byte is zero.)

; RUN: emulate-kernel %s --block=4 --seeds=2 --print=0 f32:4:iota \
; RUN:   tensormap=0:4:4:0 i32=127 | FileCheck %s
; RUN: not emulate-kernel %s f32:4:iota tensormap=0:4:4:0 i32=128 2>&1 \
; RUN:   | FileCheck %s --check-prefix=BEHIND
; RUN: not emulate-kernel %s f32:4:iota tensormap=0:4:4:0 i32=-1 2>&1 \
; RUN:   | FileCheck %s --check-prefix=WRITTEN
; RUN: not emulate-kernel %s f32:4:iota tensormap=0:4:4:96 i32=0 2>&1 \
; RUN:   | FileCheck %s --check-prefix=SWIZZLE

; CHECK: 0: f32 [0, 0, 0, 0]
; BEHIND: thread (0, 0, 0) reads 1 bytes at address 0x{{[0-9a-f]+}},
; SWIZZLE: error: 'tensormap=0:4:4:96' is no tensor map
; WRITTEN: thread (0, 0, 0) writes 1 bytes at address 0x{{[0-9a-f]+}},

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @f(ptr addrspace(1) %x, ptr byval([128 x i8]) align 64 %map, i32 %i) {
  %isWrite = icmp slt i32 %i, 0
  br i1 %isWrite, label %write, label %read
write:
  store i8 1, ptr %map
  ret void
read:
  %from = getelementptr i8, ptr %map, i32 %i
  %byte = load i8, ptr %from
  %number = uitofp i8 %byte to float
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %to = getelementptr float, ptr addrspace(1) %x, i32 %t
  store float %number, ptr addrspace(1) %to
  ret void
}
