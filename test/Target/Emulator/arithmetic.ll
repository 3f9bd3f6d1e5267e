; Arithmetic of NVVM, and functions of libdevice.

; RUN: emulate-kernel %s --kernel=f32 --print=1 'f32:[2.5,-1.75,0.5]' \
; RUN:   f32:16:zero | FileCheck %s --check-prefix=F32
; RUN: emulate-kernel %s --kernel=i32 --print=1 'f32:[2.5,-1.75,3e10]' \
; RUN:   i32:10:zero | FileCheck %s --check-prefix=I32
; RUN: emulate-kernel %s --kernel=libdevice 'f32:[0.5]' 'f64:[0.25]' \
; RUN: | FileCheck %s --check-prefix=LIBDEVICE

target triple = "nvptx64-nvidia-cuda"

declare float @llvm.nvvm.sqrt.approx.ftz.f(float)
declare float @llvm.nvvm.rsqrt.approx.f(float)
declare float @llvm.nvvm.rcp.approx.ftz.f(float)
declare float @llvm.nvvm.ex2.approx.ftz.f32(float)
declare float @llvm.nvvm.lg2.approx.f(float)
declare float @llvm.nvvm.floor.f(float)
declare float @llvm.nvvm.ceil.f(float)
declare float @llvm.nvvm.trunc.f(float)
declare float @llvm.nvvm.round.f(float)
declare float @llvm.nvvm.fma.rn.f(float, float, float)
declare float @llvm.nvvm.fmin.f(float, float)
declare float @llvm.nvvm.fmax.nan.f(float, float)
declare float @llvm.nvvm.mul.rn.ftz.f(float, float)
declare float @llvm.nvvm.add.rn.f(float, float)
declare float @llvm.nvvm.div.approx.f(float, float)
declare float @llvm.nvvm.saturate.f(float)

; F32: 1: f32 [1.58113{{[0-9]+}}, 0.63245{{[0-9]+}}, 0.4{{[0-9]*}}, 5.65685{{[0-9]+}}, 1.32192{{[0-9]+}}, -2, -1, -1, 2, -3.875, -1.75, 2.5, -4.375, 0.75, 5, 0]
define ptx_kernel void @f32(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %pb = getelementptr float, ptr addrspace(1) %in, i64 1
  %pc = getelementptr float, ptr addrspace(1) %in, i64 2
  %a = load float, ptr addrspace(1) %in
  %b = load float, ptr addrspace(1) %pb
  %c = load float, ptr addrspace(1) %pc
  %r0 = call float @llvm.nvvm.sqrt.approx.ftz.f(float %a)
  %r1 = call float @llvm.nvvm.rsqrt.approx.f(float %a)
  %r2 = call float @llvm.nvvm.rcp.approx.ftz.f(float %a)
  %r3 = call float @llvm.nvvm.ex2.approx.ftz.f32(float %a)
  %r4 = call float @llvm.nvvm.lg2.approx.f(float %a)
  %r5 = call float @llvm.nvvm.floor.f(float %b)
  %r6 = call float @llvm.nvvm.ceil.f(float %b)
  %r7 = call float @llvm.nvvm.trunc.f(float %b)
  %r8 = call float @llvm.nvvm.round.f(float %a)
  %r9 = call float @llvm.nvvm.fma.rn.f(float %a, float %b, float %c)
  %r10 = call float @llvm.nvvm.fmin.f(float %a, float %b)
  %r11 = call float @llvm.nvvm.fmax.nan.f(float %a, float %b)
  %r12 = call float @llvm.nvvm.mul.rn.ftz.f(float %a, float %b)
  %r13 = call float @llvm.nvvm.add.rn.f(float %a, float %b)
  %r14 = call float @llvm.nvvm.div.approx.f(float %a, float %c)
  %r15 = call float @llvm.nvvm.saturate.f(float %b)
  %v0 = insertelement <16 x float> poison, float %r0, i32 0
  %v1 = insertelement <16 x float> %v0, float %r1, i32 1
  %v2 = insertelement <16 x float> %v1, float %r2, i32 2
  %v3 = insertelement <16 x float> %v2, float %r3, i32 3
  %v4 = insertelement <16 x float> %v3, float %r4, i32 4
  %v5 = insertelement <16 x float> %v4, float %r5, i32 5
  %v6 = insertelement <16 x float> %v5, float %r6, i32 6
  %v7 = insertelement <16 x float> %v6, float %r7, i32 7
  %v8 = insertelement <16 x float> %v7, float %r8, i32 8
  %v9 = insertelement <16 x float> %v8, float %r9, i32 9
  %v10 = insertelement <16 x float> %v9, float %r10, i32 10
  %v11 = insertelement <16 x float> %v10, float %r11, i32 11
  %v12 = insertelement <16 x float> %v11, float %r12, i32 12
  %v13 = insertelement <16 x float> %v12, float %r13, i32 13
  %v14 = insertelement <16 x float> %v13, float %r14, i32 14
  %v15 = insertelement <16 x float> %v14, float %r15, i32 15
  store <16 x float> %v15, ptr addrspace(1) %out, align 4
  ret void
}

declare i32 @llvm.nvvm.f2i.rn(float)
declare i32 @llvm.nvvm.f2i.rz.ftz(float)
declare i32 @llvm.nvvm.f2i.rm(float)
declare i32 @llvm.nvvm.f2i.rp(float)
declare i32 @llvm.nvvm.f2ui.rz(float)
declare i32 @llvm.nvvm.mulhi.i(i32, i32)
declare i32 @llvm.nvvm.mulhi.ui(i32, i32)
declare double @llvm.nvvm.lohi.i2d(i32, i32)
declare i32 @llvm.nvvm.d2i.lo(double)
declare i32 @llvm.nvvm.d2i.hi(double)
declare float @llvm.nvvm.i2f.rn(i32)

; 2.5 and -1.75, rounded; what is too large is the greatest number.
; I32: 1: i32 [2, -1, -2, 3, 0, 2147483647, -1, 1, 7, 9]
define ptx_kernel void @i32(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %pb = getelementptr float, ptr addrspace(1) %in, i64 1
  %pc = getelementptr float, ptr addrspace(1) %in, i64 2
  %a = load float, ptr addrspace(1) %in
  %b = load float, ptr addrspace(1) %pb
  %c = load float, ptr addrspace(1) %pc
  %r0 = call i32 @llvm.nvvm.f2i.rn(float %a)
  %r1 = call i32 @llvm.nvvm.f2i.rz.ftz(float %b)
  %r2 = call i32 @llvm.nvvm.f2i.rm(float %b)
  %r3 = call i32 @llvm.nvvm.f2i.rp(float %a)
  %r4 = call i32 @llvm.nvvm.f2ui.rz(float %b)
  %r5 = call i32 @llvm.nvvm.f2i.rn(float %c)
  ; -2 * 2^31 and 2 * 2^31: the high halves.
  %minus = sub i32 0, %r0
  %r6 = call i32 @llvm.nvvm.mulhi.i(i32 %minus, i32 1073741825)
  %r7 = call i32 @llvm.nvvm.mulhi.ui(i32 %r0, i32 -2147483648)
  %d = call double @llvm.nvvm.lohi.i2d(i32 7, i32 9)
  %r8 = call i32 @llvm.nvvm.d2i.lo(double %d)
  %r9 = call i32 @llvm.nvvm.d2i.hi(double %d)
  %v0 = insertelement <10 x i32> poison, i32 %r0, i32 0
  %v1 = insertelement <10 x i32> %v0, i32 %r1, i32 1
  %v2 = insertelement <10 x i32> %v1, i32 %r2, i32 2
  %v3 = insertelement <10 x i32> %v2, i32 %r3, i32 3
  %v4 = insertelement <10 x i32> %v3, i32 %r4, i32 4
  %v5 = insertelement <10 x i32> %v4, i32 %r5, i32 5
  %v6 = insertelement <10 x i32> %v5, i32 %r6, i32 6
  %v7 = insertelement <10 x i32> %v6, i32 %r7, i32 7
  %v8 = insertelement <10 x i32> %v7, i32 %r8, i32 8
  %v9 = insertelement <10 x i32> %v8, i32 %r9, i32 9
  store <10 x i32> %v9, ptr addrspace(1) %out, align 4
  ret void
}

declare float @__nv_expf(float)
declare float @__nv_fast_logf(float)
declare float @__nv_rsqrtf(float)
declare float @__nv_powif(float, i32)
declare float @__nv_erff(float)
declare double @__nv_tanh(double)
declare double @__nv_fma(double, double, double)

; exp(0.5) + log(0.5) + 0.5^-0.5 + 0.5^3 + erf(0.5), and tanh(0.25) + 0.25^2 + 1.
; LIBDEVICE: 0: f32 [3.01528{{[0-9]+}}]
; LIBDEVICE: 1: f64 [1.30741866240{{[0-9]+}}]
define ptx_kernel void @libdevice(ptr addrspace(1) %single,
                                  ptr addrspace(1) %double) {
  %x = load float, ptr addrspace(1) %single
  %y = load double, ptr addrspace(1) %double
  %f0 = call float @__nv_expf(float %x)
  %f1 = call float @__nv_fast_logf(float %x)
  %f2 = call float @__nv_rsqrtf(float %x)
  %f3 = call float @__nv_powif(float %x, i32 3)
  %f4 = call float @__nv_erff(float %x)
  %s1 = fadd float %f0, %f1
  %s2 = fadd float %s1, %f2
  %s3 = fadd float %s2, %f3
  %s4 = fadd float %s3, %f4
  store float %s4, ptr addrspace(1) %single
  %d0 = call double @__nv_tanh(double %y)
  %d1 = call double @__nv_fma(double %y, double %y, double 1.0)
  %d2 = fadd double %d0, %d1
  store double %d2, ptr addrspace(1) %double
  ret void
}
