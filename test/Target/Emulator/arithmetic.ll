; Arithmetic of NVVM, and functions of libdevice.

; RUN: emulate-kernel %s --kernel=f32 --print=1 'f32:[2.5,-1.75,0.5]' \
; RUN:   f32:16:zero | FileCheck %s --check-prefix=F32
; RUN: emulate-kernel %s --kernel=i32 --print=1 'f32:[2.5,-1.75,3e10]' \
; RUN:   i32:10:zero | FileCheck %s --check-prefix=I32
; RUN: emulate-kernel %s --kernel=directed 'f32:[1,0.00000001]' \
; RUN:   'f64:[1,0.00000000000000000001]' f32:12:zero \
; RUN: | FileCheck %s --check-prefix=DIRECTED
; RUN: emulate-kernel %s --kernel=assembly 'f32:[4]' 'f64:[16]' \
; RUN:   'i32:[-1,-1,2,0]' i64:8:zero | FileCheck %s --check-prefix=ASSEMBLY
; RUN: emulate-kernel %s --kernel=libdevice 'f32:[0.5]' 'f64:[0.25]' \
; RUN: | FileCheck %s --check-prefix=LIBDEVICE
; RUN: emulate-kernel %s --kernel=classes --print=2 'f32:[2.5,inf,nan]' \
; RUN:   'f64:[-2.5,-inf,nan]' i32:7:zero | FileCheck %s --check-prefix=CLASSES
; RUN: emulate-kernel %s --kernel=together --print=1 'f64:[0.5]' f64:2:zero \
; RUN: | FileCheck %s --check-prefix=TOGETHER

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

declare i32 @__nv_isnanf(float)
declare i32 @__nv_isinff(float)
declare i32 @__nv_finitef(float)
declare i32 @__nv_isnand(double)
declare i32 @__nv_isinfd(double)
declare i32 @__nv_isfinited(double)
declare i32 @__nv_abs(i32)

; How many of three numbers are of a class, and 3.
; CLASSES: 2: i32 [1, 1, 1, 1, 1, 1, 3]
define ptx_kernel void @classes(ptr addrspace(1) %single,
                                ptr addrspace(1) %double,
                                ptr addrspace(1) %out) {
  %pfloat0 = getelementptr float, ptr addrspace(1) %single, i64 0
  %float0 = load float, ptr addrspace(1) %pfloat0
  %pfloat1 = getelementptr float, ptr addrspace(1) %single, i64 1
  %float1 = load float, ptr addrspace(1) %pfloat1
  %pfloat2 = getelementptr float, ptr addrspace(1) %single, i64 2
  %float2 = load float, ptr addrspace(1) %pfloat2
  %isnanf0 = call i32 @__nv_isnanf(float %float0)
  %isnanf1 = call i32 @__nv_isnanf(float %float1)
  %isnanf2 = call i32 @__nv_isnanf(float %float2)
  %isnanf01 = add i32 %isnanf0, %isnanf1
  %isnanf = add i32 %isnanf01, %isnanf2
  %oisnanf = getelementptr i32, ptr addrspace(1) %out, i64 0
  store i32 %isnanf, ptr addrspace(1) %oisnanf
  %isinff0 = call i32 @__nv_isinff(float %float0)
  %isinff1 = call i32 @__nv_isinff(float %float1)
  %isinff2 = call i32 @__nv_isinff(float %float2)
  %isinff01 = add i32 %isinff0, %isinff1
  %isinff = add i32 %isinff01, %isinff2
  %oisinff = getelementptr i32, ptr addrspace(1) %out, i64 1
  store i32 %isinff, ptr addrspace(1) %oisinff
  %finitef0 = call i32 @__nv_finitef(float %float0)
  %finitef1 = call i32 @__nv_finitef(float %float1)
  %finitef2 = call i32 @__nv_finitef(float %float2)
  %finitef01 = add i32 %finitef0, %finitef1
  %finitef = add i32 %finitef01, %finitef2
  %ofinitef = getelementptr i32, ptr addrspace(1) %out, i64 2
  store i32 %finitef, ptr addrspace(1) %ofinitef
  %pdouble0 = getelementptr double, ptr addrspace(1) %double, i64 0
  %double0 = load double, ptr addrspace(1) %pdouble0
  %pdouble1 = getelementptr double, ptr addrspace(1) %double, i64 1
  %double1 = load double, ptr addrspace(1) %pdouble1
  %pdouble2 = getelementptr double, ptr addrspace(1) %double, i64 2
  %double2 = load double, ptr addrspace(1) %pdouble2
  %isnand0 = call i32 @__nv_isnand(double %double0)
  %isnand1 = call i32 @__nv_isnand(double %double1)
  %isnand2 = call i32 @__nv_isnand(double %double2)
  %isnand01 = add i32 %isnand0, %isnand1
  %isnand = add i32 %isnand01, %isnand2
  %oisnand = getelementptr i32, ptr addrspace(1) %out, i64 3
  store i32 %isnand, ptr addrspace(1) %oisnand
  %isinfd0 = call i32 @__nv_isinfd(double %double0)
  %isinfd1 = call i32 @__nv_isinfd(double %double1)
  %isinfd2 = call i32 @__nv_isinfd(double %double2)
  %isinfd01 = add i32 %isinfd0, %isinfd1
  %isinfd = add i32 %isinfd01, %isinfd2
  %oisinfd = getelementptr i32, ptr addrspace(1) %out, i64 4
  store i32 %isinfd, ptr addrspace(1) %oisinfd
  %isfinited0 = call i32 @__nv_isfinited(double %double0)
  %isfinited1 = call i32 @__nv_isfinited(double %double1)
  %isfinited2 = call i32 @__nv_isfinited(double %double2)
  %isfinited01 = add i32 %isfinited0, %isfinited1
  %isfinited = add i32 %isfinited01, %isfinited2
  %oisfinited = getelementptr i32, ptr addrspace(1) %out, i64 5
  store i32 %isfinited, ptr addrspace(1) %oisfinited
  %three = call i32 @__nv_abs(i32 -3)
  %othree = getelementptr i32, ptr addrspace(1) %out, i64 6
  store i32 %three, ptr addrspace(1) %othree
  ret void
}

declare void @__nv_sincos(double, ptr, ptr)
declare void @__nv_sincosf(float, ptr, ptr)

; sin(0.5) + its f32, cos(0.5) + its f32.
; TOGETHER: 1: f64 [0.95885{{[0-9]+}}, 1.75516{{[0-9]+}}]
define ptx_kernel void @together(ptr addrspace(1) %angle,
                                 ptr addrspace(1) %out) {
  %s = alloca double
  %c = alloca double
  %sf = alloca float
  %cf = alloca float
  %x = load double, ptr addrspace(1) %angle
  %xf = fptrunc double %x to float
  call void @__nv_sincos(double %x, ptr %s, ptr %c)
  call void @__nv_sincosf(float %xf, ptr %sf, ptr %cf)
  %sd = load double, ptr %s
  %cd = load double, ptr %c
  %s32 = load float, ptr %sf
  %c32 = load float, ptr %cf
  %s64 = fpext float %s32 to double
  %c64 = fpext float %c32 to double
  %sum = fadd double %sd, %s64
  %cosum = fadd double %cd, %c64
  %second = getelementptr double, ptr addrspace(1) %out, i64 1
  store double %sum, ptr addrspace(1) %out
  store double %cosum, ptr addrspace(1) %second
  ret void
}

declare double @llvm.nvvm.add.rp.d(double, double)
declare double @llvm.nvvm.add.rz.d(double, double)
declare float @llvm.nvvm.add.rm.f(float, float)
declare float @llvm.nvvm.add.rp.f(float, float)
declare float @llvm.nvvm.add.rz.f(float, float)
declare float @llvm.nvvm.add.rz.ftz.f(float, float)
declare float @llvm.nvvm.div.rm.f(float, float)
declare float @llvm.nvvm.fma.rm.f(float, float, float)
declare float @llvm.nvvm.fma.rp.ftz.f(float, float, float)
declare float @llvm.nvvm.mul.rz.f(float, float)
declare float @llvm.nvvm.rcp.rp.f(float)
declare float @llvm.nvvm.sqrt.rm.f(float)
declare float @llvm.nvvm.sqrt.rp.f(float)

; What 1 + 1e-8 and the like are rounded to, less 1, in units of the last place; and
; in f64 what 1 + 1e-20 is.
; DIRECTED: 2: f32 [0, 1, 0, -1, 0, 0, 0, 1, 1, 1, 0, 1]
define ptx_kernel void @directed(ptr addrspace(1) %single,
                                 ptr addrspace(1) %double,
                                 ptr addrspace(1) %out) {
  %pt = getelementptr float, ptr addrspace(1) %single, i64 1
  %one = load float, ptr addrspace(1) %single
  %tiny = load float, ptr addrspace(1) %pt
  %minus = fneg float %tiny
  %qt = getelementptr double, ptr addrspace(1) %double, i64 1
  %dOne = load double, ptr addrspace(1) %double
  %dTiny = load double, ptr addrspace(1) %qt
  %x0 = call float @llvm.nvvm.add.rm.f(float %one, float %tiny)
  %y0 = fsub float %x0, 1.0
  %z0 = fmul float %y0, 8388608.0
  %o0 = getelementptr float, ptr addrspace(1) %out, i64 0
  store float %z0, ptr addrspace(1) %o0
  %x1 = call float @llvm.nvvm.add.rp.f(float %one, float %tiny)
  %y1 = fsub float %x1, 1.0
  %z1 = fmul float %y1, 8388608.0
  %o1 = getelementptr float, ptr addrspace(1) %out, i64 1
  store float %z1, ptr addrspace(1) %o1
  %x2 = call float @llvm.nvvm.add.rz.f(float %one, float %tiny)
  %y2 = fsub float %x2, 1.0
  %z2 = fmul float %y2, 8388608.0
  %o2 = getelementptr float, ptr addrspace(1) %out, i64 2
  store float %z2, ptr addrspace(1) %o2
  %x3 = call float @llvm.nvvm.add.rz.ftz.f(float %one, float %minus)
  %y3 = fsub float %x3, 1.0
  %z3 = fmul float %y3, 16777216.0
  %o3 = getelementptr float, ptr addrspace(1) %out, i64 3
  store float %z3, ptr addrspace(1) %o3
  %x4 = call float @llvm.nvvm.add.rp.f(float %one, float %minus)
  %y4 = fsub float %x4, 1.0
  %z4 = fmul float %y4, 16777216.0
  %o4 = getelementptr float, ptr addrspace(1) %out, i64 4
  store float %z4, ptr addrspace(1) %o4
  %x5 = call float @llvm.nvvm.fma.rm.f(float %tiny, float %one, float %one)
  %y5 = fsub float %x5, 1.0
  %z5 = fmul float %y5, 8388608.0
  %o5 = getelementptr float, ptr addrspace(1) %out, i64 5
  store float %z5, ptr addrspace(1) %o5
  %x6 = call float @llvm.nvvm.mul.rz.f(float %one, float %one)
  %y6 = fsub float %x6, 1.0
  %z6 = fmul float %y6, 8388608.0
  %o6 = getelementptr float, ptr addrspace(1) %out, i64 6
  store float %z6, ptr addrspace(1) %o6
  %x7 = call float @llvm.nvvm.fma.rp.ftz.f(float %tiny, float %one, float %one)
  %y7 = fsub float %x7, 1.0
  %z7 = fmul float %y7, 8388608.0
  %o7 = getelementptr float, ptr addrspace(1) %out, i64 7
  store float %z7, ptr addrspace(1) %o7
  %two = fadd float %one, %one
  %rp = call float @llvm.nvvm.sqrt.rp.f(float %two)
  %rm = call float @llvm.nvvm.sqrt.rm.f(float %two)
  %rd = fsub float %rp, %rm
  %ru = fmul float %rd, 8388608.0
  %o8 = getelementptr float, ptr addrspace(1) %out, i64 8
  store float %ru, ptr addrspace(1) %o8
  %three = fadd float %two, %one
  %cp = call float @llvm.nvvm.rcp.rp.f(float %three)
  %cm = call float @llvm.nvvm.div.rm.f(float %one, float %three)
  %cd = fsub float %cp, %cm
  %cu = fmul float %cd, 33554432.0
  %o9 = getelementptr float, ptr addrspace(1) %out, i64 9
  store float %cu, ptr addrspace(1) %o9
  %x10 = call double @llvm.nvvm.add.rz.d(double %dOne, double %dTiny)
  %y10 = fsub double %x10, 1.0
  %z10 = fmul double %y10, 4503599627370496.0
  %w10 = fptrunc double %z10 to float
  %o10 = getelementptr float, ptr addrspace(1) %out, i64 10
  store float %w10, ptr addrspace(1) %o10
  %x11 = call double @llvm.nvvm.add.rp.d(double %dOne, double %dTiny)
  %y11 = fsub double %x11, 1.0
  %z11 = fmul double %y11, 4503599627370496.0
  %w11 = fptrunc double %z11 to float
  %o11 = getelementptr float, ptr addrspace(1) %out, i64 11
  store float %w11, ptr addrspace(1) %o11
  ret void
}

; What libdevice has of assembly: 1/4, two choices of 1/sqrt(16), and (2^32 - 1)^2 + 2 in halves.
; ASSEMBLY: 0: f32 [0.25]
; ASSEMBLY: 1: f64 [0.5]
; ASSEMBLY: 2: i32 [-1, -1, 3, -2]
; ASSEMBLY: 3: i64 [1, -3, -1, -5, 2, -2, 3, -4]
define ptx_kernel void @assembly(ptr addrspace(1) %single,
                                 ptr addrspace(1) %double,
                                 ptr addrspace(1) %integers,
                                 ptr addrspace(1) %wide) {
  %x = load float, ptr addrspace(1) %single
  %rx = call float asm "rcp.approx.ftz.f32 $0,$1;", "=f,f"(float %x)
  store float %rx, ptr addrspace(1) %single
  %y = load double, ptr addrspace(1) %double
  %ry = call double asm "rsqrt.approx.ftz.f64 $0, $1;", "=d,d"(double %y)
  %same = call double asm "{ .reg .pred __$$temp3;\0A  setp.equ.f64 __$$temp3, $1, $2;\0A  selp.f64 $0, $3, $4, __$$temp3;}", "=d,d,d,d,d"(double %y, double 16.0, double %ry, double 7.0)
  %other = call double asm "{ .reg .pred __$$temp3;\0A  setp.equ.f64 __$$temp3, $1, $2;\0A  selp.f64 $0, $3, $4, __$$temp3;}", "=d,d,d,d,d"(double %y, double 15.0, double 7.0, double %ry)
  %both = fadd double %same, %other
  store double %both, ptr addrspace(1) %double
  %pb = getelementptr i32, ptr addrspace(1) %integers, i64 1
  %pc = getelementptr i32, ptr addrspace(1) %integers, i64 2
  %pd = getelementptr i32, ptr addrspace(1) %integers, i64 3
  %a = load i32, ptr addrspace(1) %integers
  %b = load i32, ptr addrspace(1) %pb
  %c = load i32, ptr addrspace(1) %pc
  %m = call { i32, i32 } asm "{\0A\09mad.lo.cc.u32   $0, $2, $3, $4;\0A\09madc.hi.u32     $1, $2, $3,  0;\0A\09}", "=r,=r,r,r,r"(i32 %a, i32 %b, i32 %c)
  %lo = extractvalue { i32, i32 } %m, 0
  %hi = extractvalue { i32, i32 } %m, 1
  store i32 %lo, ptr addrspace(1) %pc
  store i32 %hi, ptr addrspace(1) %pd
  ; (2^64 - 1) (2^64 - 3) + 2^64 - 2 is 1 + 2^64 (2^64 - 3).
  %w = call { i64, i64 } asm "{\0A\09.reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi, clo, chi;\0A\09mov.b64         {alo,ahi}, $2;    \0A\09mov.b64         {blo,bhi}, $3;    \0A\09mov.b64         {clo,chi}, $4;    \0A\09mad.lo.cc.u32   r0, alo, blo, clo;\0A\09madc.hi.cc.u32  r1, alo, blo, chi;\0A\09madc.hi.u32     r2, alo, bhi,   0;\0A\09mad.lo.cc.u32   r1, alo, bhi,  r1;\0A\09madc.hi.cc.u32  r2, ahi, blo,  r2;\0A\09madc.hi.u32     r3, ahi, bhi,   0;\0A\09mad.lo.cc.u32   r1, ahi, blo,  r1;\0A\09madc.lo.cc.u32  r2, ahi, bhi,  r2;\0A\09addc.u32        r3,  r3,   0;     \0A\09mov.b64         $0, {r0,r1};      \0A\09mov.b64         $1, {r2,r3};      \0A\09}", "=l,=l,l,l,l"(i64 -1, i64 -3, i64 -2)
  ; 1 + 2^64 (2^64 - 3) less 2 + 2^64; and 3 + 2^65 more than that.
  %wlo = extractvalue { i64, i64 } %w, 0
  %whi = extractvalue { i64, i64 } %w, 1
  %d = call { i64, i64 } asm "{\0A\09.reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3;\0A\09mov.b64         {a0,a1}, $2;\0A\09mov.b64         {a2,a3}, $3;\0A\09mov.b64         {b0,b1}, $4;\0A\09mov.b64         {b2,b3}, $5;\0A\09sub.cc.u32      r0, a0, b0; \0A\09subc.cc.u32     r1, a1, b1; \0A\09subc.cc.u32     r2, a2, b2; \0A\09subc.u32        r3, a3, b3; \0A\09mov.b64         $0, {r0,r1};\0A\09mov.b64         $1, {r2,r3};\0A\09}", "=l,=l,l,l,l,l"(i64 %wlo, i64 %whi, i64 2, i64 1)
  %dlo = extractvalue { i64, i64 } %d, 0
  %dhi = extractvalue { i64, i64 } %d, 1
  %s = call { i64, i64 } asm "{\0A\09.reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3;\0A\09mov.b64         {a0,a1}, $2;\0A\09mov.b64         {a2,a3}, $3;\0A\09mov.b64         {b0,b1}, $4;\0A\09mov.b64         {b2,b3}, $5;\0A\09add.cc.u32      r0, a0, b0; \0A\09addc.cc.u32     r1, a1, b1; \0A\09addc.cc.u32     r2, a2, b2; \0A\09addc.u32        r3, a3, b3; \0A\09mov.b64         $0, {r0,r1};\0A\09mov.b64         $1, {r2,r3};\0A\09}", "=l,=l,l,l,l,l"(i64 %dlo, i64 %dhi, i64 3, i64 2)
  %slo = extractvalue { i64, i64 } %s, 0
  %shi = extractvalue { i64, i64 } %s, 1
  %v0 = insertelement <6 x i64> poison, i64 %wlo, i32 0
  %v1 = insertelement <6 x i64> %v0, i64 %whi, i32 1
  %v2 = insertelement <6 x i64> %v1, i64 %dlo, i32 2
  %v3 = insertelement <6 x i64> %v2, i64 %dhi, i32 3
  %v4 = insertelement <6 x i64> %v3, i64 %slo, i32 4
  %v5 = insertelement <6 x i64> %v4, i64 %shi, i32 5
  %m64 = call { i64, i64 } asm "{\0A\09.reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi;\0A\09mov.b64         {alo,ahi}, $2;   \0A\09mov.b64         {blo,bhi}, $3;   \0A\09mul.lo.u32      r0, alo, blo;    \0A\09mul.hi.u32      r1, alo, blo;    \0A\09mad.lo.cc.u32   r1, alo, bhi, r1;\0A\09madc.hi.u32     r2, alo, bhi,  0;\0A\09mad.lo.cc.u32   r1, ahi, blo, r1;\0A\09madc.hi.cc.u32  r2, ahi, blo, r2;\0A\09madc.hi.u32     r3, ahi, bhi,  0;\0A\09mad.lo.cc.u32   r2, ahi, bhi, r2;\0A\09addc.u32        r3, r3,  0;      \0A\09mov.b64         $0, {r0,r1};     \0A\09mov.b64         $1, {r2,r3};     \0A\09}", "=l,=l,l,l"(i64 -1, i64 -3)
  %mlo = extractvalue { i64, i64 } %m64, 0
  %mhi = extractvalue { i64, i64 } %m64, 1
  store <6 x i64> %v5, ptr addrspace(1) %wide, align 8
  %p6 = getelementptr i64, ptr addrspace(1) %wide, i64 6
  store i64 %mlo, ptr addrspace(1) %p6
  %p7 = getelementptr i64, ptr addrspace(1) %wide, i64 7
  store i64 %mhi, ptr addrspace(1) %p7
  ret void
}
