; Every product of matrices by its intrinsic: with matrices of ones, an element of
; the result is the number of stored columns, plus 1. How elements are distributed
; is tested in test/Unit/Emulator and by matrices.py.

; RUN: emulate-kernel %s --block=32 --seeds=2 f32:21:zero | FileCheck %s

; CHECK: 0: f32 [9, 9, 17, 17, 9, 17, 5, 9, 5, 9, 9, 17, 17, 9, 17, 5, 9, 9, 9, 17, 17]

target triple = "nvptx64-nvidia-cuda"

declare { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k16.row.col.f16.f16(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>)
declare { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k8.row.col.f16.f16(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>)
declare { <2 x half>, <2 x half> } @llvm.nvvm.mma.sp.m16n8k16.row.col.f16.f16(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, i32, i32)
declare { <2 x half>, <2 x half> } @llvm.nvvm.mma.sp.m16n8k32.row.col.f16.f16(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, i32, i32)
declare { <2 x half>, <2 x half> } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.f16.f16(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, i32, i32)
declare { <2 x half>, <2 x half> } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k32.row.col.f16.f16(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, i32, i32)
declare { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double, double, double, double)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k4.row.col.tf32(i32, i32, i32, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.bf16(i32, i32, i32, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(i32, i32, i32, i32, i32, i32, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.mma.sp.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float, i32, i32)
declare { float, float, float, float } @llvm.nvvm.mma.sp.m16n8k32.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float, i32, i32)
declare { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.bf16(i32, i32, i32, i32, float, float, float, float, i32, i32)
declare { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float, i32, i32)
declare { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.tf32(i32, i32, i32, i32, i32, i32, i32, i32, float, float, float, float, i32, i32)
declare { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k32.row.col.bf16(i32, i32, i32, i32, i32, i32, i32, i32, float, float, float, float, i32, i32)
declare { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k32.row.col.f32.f32(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, float, float, float, float, i32, i32)
declare { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k8.row.col.tf32(i32, i32, i32, i32, float, float, float, float, i32, i32)

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @products(ptr addrspace(1) %buffer) {
  ; Each thread but the first writes to a place of its own frame.
  %own = alloca [21 x float], align 16
  %global = addrspacecast ptr addrspace(1) %buffer to ptr
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %lane, 0
  %chosen = select i1 %first, ptr %global, ptr %own
  %d0 = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k8.row.col.f16.f16(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>)
  %e0 = extractvalue { <2 x half>, <2 x half> } %d0, 1
  %h0 = extractelement <2 x half> %e0, i32 1
  %f0 = fpext half %h0 to float
  %p0 = getelementptr float, ptr %chosen, i64 0
  store float %f0, ptr %p0
  %d1 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.f32.f32(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, float 1.0, float 1.0, float 1.0, float 1.0)
  %e1 = extractvalue { float, float, float, float } %d1, 3
  %f1 = fadd float %e1, 0.0
  %p1 = getelementptr float, ptr %chosen, i64 1
  store float %f1, ptr %p1
  %d2 = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k16.row.col.f16.f16(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>)
  %e2 = extractvalue { <2 x half>, <2 x half> } %d2, 1
  %h2 = extractelement <2 x half> %e2, i32 1
  %f2 = fpext half %h2 to float
  %p2 = getelementptr float, ptr %chosen, i64 2
  store float %f2, ptr %p2
  %d3 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, float 1.0, float 1.0, float 1.0, float 1.0)
  %e3 = extractvalue { float, float, float, float } %d3, 3
  %f3 = fadd float %e3, 0.0
  %p3 = getelementptr float, ptr %chosen, i64 3
  store float %f3, ptr %p3
  %d4 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.bf16(
      i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, float 1.0, float 1.0, float 1.0, float 1.0)
  %e4 = extractvalue { float, float, float, float } %d4, 3
  %f4 = fadd float %e4, 0.0
  %p4 = getelementptr float, ptr %chosen, i64 4
  store float %f4, ptr %p4
  %d5 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(
      i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, float 1.0, float 1.0, float 1.0, float 1.0)
  %e5 = extractvalue { float, float, float, float } %d5, 3
  %f5 = fadd float %e5, 0.0
  %p5 = getelementptr float, ptr %chosen, i64 5
  store float %f5, ptr %p5
  %d6 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k4.row.col.tf32(
      i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, float 1.0, float 1.0, float 1.0, float 1.0)
  %e6 = extractvalue { float, float, float, float } %d6, 3
  %f6 = fadd float %e6, 0.0
  %p6 = getelementptr float, ptr %chosen, i64 6
  store float %f6, ptr %p6
  %d7 = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(
      i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, float 1.0, float 1.0, float 1.0, float 1.0)
  %e7 = extractvalue { float, float, float, float } %d7, 3
  %f7 = fadd float %e7, 0.0
  %p7 = getelementptr float, ptr %chosen, i64 7
  store float %f7, ptr %p7
  %d8 = call { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(
      double 1.0, double 1.0, double 1.0, double 1.0)
  %e8 = extractvalue { double, double } %d8, 1
  %f8 = fptrunc double %e8 to float
  %p8 = getelementptr float, ptr %chosen, i64 8
  store float %f8, ptr %p8
  %d9 = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.f16.f16(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, i32 u0x94949494, i32 0)
  %e9 = extractvalue { <2 x half>, <2 x half> } %d9, 1
  %h9 = extractelement <2 x half> %e9, i32 1
  %f9 = fpext half %h9 to float
  %p9 = getelementptr float, ptr %chosen, i64 9
  store float %f9, ptr %p9
  %d10 = call { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.f32.f32(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, float 1.0, float 1.0, float 1.0, float 1.0, i32 u0x94949494, i32 0)
  %e10 = extractvalue { float, float, float, float } %d10, 3
  %f10 = fadd float %e10, 0.0
  %p10 = getelementptr float, ptr %chosen, i64 10
  store float %f10, ptr %p10
  %d11 = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k32.row.col.f16.f16(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, i32 u0x94949494, i32 0)
  %e11 = extractvalue { <2 x half>, <2 x half> } %d11, 1
  %h11 = extractelement <2 x half> %e11, i32 1
  %f11 = fpext half %h11 to float
  %p11 = getelementptr float, ptr %chosen, i64 11
  store float %f11, ptr %p11
  %d12 = call { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k32.row.col.f32.f32(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, float 1.0, float 1.0, float 1.0, float 1.0, i32 u0x94949494, i32 0)
  %e12 = extractvalue { float, float, float, float } %d12, 3
  %f12 = fadd float %e12, 0.0
  %p12 = getelementptr float, ptr %chosen, i64 12
  store float %f12, ptr %p12
  %d13 = call { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.bf16(
      i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, float 1.0, float 1.0, float 1.0, float 1.0, i32 u0x94949494, i32 0)
  %e13 = extractvalue { float, float, float, float } %d13, 3
  %f13 = fadd float %e13, 0.0
  %p13 = getelementptr float, ptr %chosen, i64 13
  store float %f13, ptr %p13
  %d14 = call { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k32.row.col.bf16(
      i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, i32 u0x3F803F80, float 1.0, float 1.0, float 1.0, float 1.0, i32 u0x94949494, i32 0)
  %e14 = extractvalue { float, float, float, float } %d14, 3
  %f14 = fadd float %e14, 0.0
  %p14 = getelementptr float, ptr %chosen, i64 14
  store float %f14, ptr %p14
  %d15 = call { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k8.row.col.tf32(
      i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, float 1.0, float 1.0, float 1.0, float 1.0, i32 u0x44444444, i32 0)
  %e15 = extractvalue { float, float, float, float } %d15, 3
  %f15 = fadd float %e15, 0.0
  %p15 = getelementptr float, ptr %chosen, i64 15
  store float %f15, ptr %p15
  %d16 = call { float, float, float, float } @llvm.nvvm.mma.sp.ordered.metadata.m16n8k16.row.col.tf32(
      i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, i32 u0x3F800000, float 1.0, float 1.0, float 1.0, float 1.0, i32 u0x44444444, i32 0)
  %e16 = extractvalue { float, float, float, float } %d16, 3
  %f16 = fadd float %e16, 0.0
  %p16 = getelementptr float, ptr %chosen, i64 16
  store float %f16, ptr %p16
  %d17 = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.sp.m16n8k16.row.col.f16.f16(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, i32 u0x94949494, i32 0)
  %e17 = extractvalue { <2 x half>, <2 x half> } %d17, 1
  %h17 = extractelement <2 x half> %e17, i32 1
  %f17 = fpext half %h17 to float
  %p17 = getelementptr float, ptr %chosen, i64 17
  store float %f17, ptr %p17
  %d18 = call { float, float, float, float } @llvm.nvvm.mma.sp.m16n8k16.row.col.f32.f32(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, float 1.0, float 1.0, float 1.0, float 1.0, i32 u0x94949494, i32 0)
  %e18 = extractvalue { float, float, float, float } %d18, 3
  %f18 = fadd float %e18, 0.0
  %p18 = getelementptr float, ptr %chosen, i64 18
  store float %f18, ptr %p18
  %d19 = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.sp.m16n8k32.row.col.f16.f16(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, i32 u0x94949494, i32 0)
  %e19 = extractvalue { <2 x half>, <2 x half> } %d19, 1
  %h19 = extractelement <2 x half> %e19, i32 1
  %f19 = fpext half %h19 to float
  %p19 = getelementptr float, ptr %chosen, i64 19
  store float %f19, ptr %p19
  %d20 = call { float, float, float, float } @llvm.nvvm.mma.sp.m16n8k32.row.col.f32.f32(
      <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, <2 x half> <half 1.0, half 1.0>, float 1.0, float 1.0, float 1.0, float 1.0, i32 u0x94949494, i32 0)
  %e20 = extractvalue { float, float, float, float } %d20, 3
  %f20 = fadd float %e20, 0.0
  %p20 = getelementptr float, ptr %chosen, i64 20
  store float %f20, ptr %p20
  ret void
}
