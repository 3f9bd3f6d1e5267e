; Every other intrinsic by its name, in kernels of one warp. What they compute is
; tested in test/Unit/Emulator; here, that each gets its operands.

; RUN: emulate-kernel %s --kernel=registers --grid=3,2,1 --block=16,2,1 \
; RUN:   --shared=64 i32:24:zero | FileCheck %s --check-prefix=REGISTERS
; RUN: emulate-kernel %s --kernel=warp --block=32 i32:22:zero \
; RUN: | FileCheck %s --check-prefix=WARP
; RUN: emulate-kernel %s --kernel=barriers --block=64 --seeds=3 i32:8:zero \
; RUN: | FileCheck %s --check-prefix=BARRIERS
; RUN: emulate-kernel %s --kernel=copies --block=1 i32:8:iota i32:8:zero \
; RUN: | FileCheck %s --check-prefix=COPIES
; RUN: emulate-kernel %s --kernel=memory --seeds=2 i32:8:iota i32:8:zero \
; RUN: | FileCheck %s --check-prefix=MEMORY
; RUN: emulate-kernel %s --kernel=masked i32:3:iota i32:4:zero \
; RUN: | FileCheck %s --check-prefix=MASKED
; RUN: emulate-kernel %s --kernel=limited --block=32 i32:1:zero
; RUN: not emulate-kernel %s --kernel=limited --block=64 i32:1:zero 2>&1 \
; RUN: | FileCheck %s --check-prefix=LIMITED
; RUN: not emulate-kernel %s --kernel=required --block=64 2>&1 \
; RUN: | FileCheck %s --check-prefix=REQUIRED
; RUN: emulate-kernel %s --kernel=required --block=32,2
; RUN: not emulate-kernel %s --kernel=asserts --block=4 2>&1 \
; RUN: | FileCheck %s --check-prefix=ASSERTS
; RUN: not emulate-kernel %s --kernel=traps 2>&1 \
; RUN: | FileCheck %s --check-prefix=TRAPS

target triple = "nvptx64-nvidia-cuda"

@sharedNumbers = internal addrspace(3) global [16 x i32] poison, align 16
@table = internal addrspace(4) constant [4 x i32] [i32 5, i32 6, i32 7, i32 8]
@counter = internal addrspace(1) global i32 3

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @llvm.nvvm.read.ptx.sreg.warpid()
declare i32 @llvm.nvvm.read.ptx.sreg.nwarpid()
declare i32 @llvm.nvvm.read.ptx.sreg.warpsize()
declare i32 @llvm.nvvm.read.ptx.sreg.smid()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.eq()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.le()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.gt()
declare i32 @llvm.nvvm.read.ptx.sreg.lanemask.ge()
declare i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()

define internal void @put(ptr addrspace(1) %out, i32 %index, i32 %value) {
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %index
  store i32 %value, ptr addrspace(1) %p
  ret void
}

; Of thread (3, 1, 0) in block (2, 1, 0).
; REGISTERS: 0: i32 [3, 1, 0, 16, 2, 1, 2, 1, 0, 3, 2, 1, 19, 0, 1, 32, 0, 524288, 524287, 1048575, -1048576, -524288, 64, 1]
define ptx_kernel void @registers(ptr addrspace(1) %out) {
  %r0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %r2 = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %r3 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %r4 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %r5 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %r6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %r7 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %r8 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %r9 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %r10 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %r11 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
  %r12 = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %r13 = call i32 @llvm.nvvm.read.ptx.sreg.warpid()
  %r14 = call i32 @llvm.nvvm.read.ptx.sreg.nwarpid()
  %r15 = call i32 @llvm.nvvm.read.ptx.sreg.warpsize()
  %r16 = call i32 @llvm.nvvm.read.ptx.sreg.smid()
  %r17 = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.eq()
  %r18 = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  %r19 = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.le()
  %r20 = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.gt()
  %r21 = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.ge()
  %r22 = call i32 @llvm.nvvm.read.ptx.sreg.dynamic_smem_size()
  %then = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  call void @llvm.nvvm.membar.gl()
  %now = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %passes = icmp ugt i64 %now, %then
  %r23 = zext i1 %passes to i32
  %isX = icmp eq i32 %r0, 3
  %isY = icmp eq i32 %r1, 1
  %isBlock = icmp eq i32 %r6, 2
  %isBlockY = icmp eq i32 %r7, 1
  %and1 = and i1 %isX, %isY
  %and2 = and i1 %isBlock, %isBlockY
  %is = and i1 %and1, %and2
  br i1 %is, label %write, label %end
write:
  call void @put(ptr addrspace(1) %out, i32 0, i32 %r0)
  call void @put(ptr addrspace(1) %out, i32 1, i32 %r1)
  call void @put(ptr addrspace(1) %out, i32 2, i32 %r2)
  call void @put(ptr addrspace(1) %out, i32 3, i32 %r3)
  call void @put(ptr addrspace(1) %out, i32 4, i32 %r4)
  call void @put(ptr addrspace(1) %out, i32 5, i32 %r5)
  call void @put(ptr addrspace(1) %out, i32 6, i32 %r6)
  call void @put(ptr addrspace(1) %out, i32 7, i32 %r7)
  call void @put(ptr addrspace(1) %out, i32 8, i32 %r8)
  call void @put(ptr addrspace(1) %out, i32 9, i32 %r9)
  call void @put(ptr addrspace(1) %out, i32 10, i32 %r10)
  call void @put(ptr addrspace(1) %out, i32 11, i32 %r11)
  call void @put(ptr addrspace(1) %out, i32 12, i32 %r12)
  call void @put(ptr addrspace(1) %out, i32 13, i32 %r13)
  call void @put(ptr addrspace(1) %out, i32 14, i32 %r14)
  call void @put(ptr addrspace(1) %out, i32 15, i32 %r15)
  call void @put(ptr addrspace(1) %out, i32 16, i32 %r16)
  call void @put(ptr addrspace(1) %out, i32 17, i32 %r17)
  call void @put(ptr addrspace(1) %out, i32 18, i32 %r18)
  call void @put(ptr addrspace(1) %out, i32 19, i32 %r19)
  call void @put(ptr addrspace(1) %out, i32 20, i32 %r20)
  call void @put(ptr addrspace(1) %out, i32 21, i32 %r21)
  call void @put(ptr addrspace(1) %out, i32 22, i32 %r22)
  call void @put(ptr addrspace(1) %out, i32 23, i32 %r23)
  br label %end
end:
  ret void
}

declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32, i32, i32, i32)
declare { float, i1 } @llvm.nvvm.shfl.sync.idx.f32p(i32, float, i32, i32)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i1 @llvm.nvvm.vote.uni.sync(i32, i1)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.redux.sync.min(i32, i32)
declare i32 @llvm.nvvm.redux.sync.max(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umin(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umax(i32, i32)
declare i32 @llvm.nvvm.redux.sync.and(i32, i32)
declare i32 @llvm.nvvm.redux.sync.or(i32, i32)
declare i32 @llvm.nvvm.redux.sync.xor(i32, i32)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32, i64)
declare i32 @llvm.nvvm.activemask()
declare { i32, i1 } @llvm.nvvm.elect.sync(i32)
declare void @llvm.nvvm.bar.warp.sync(i32)

; Of lane 5: the shuffles; all < 20, any < 20, uni < 20, ballot < 4; the reductions
; of lane - 4; those with the same lane / 8; ...
; WARP: 0: i32 [4, 6, 4, 31, 0, 1, 0, 15, 368, -4, 27, 0, -1, 0, -1, 0, 255, 0, 0, -1, 0, 0]
define ptx_kernel void @warp(ptr addrspace(1) %out) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %float = sitofp i32 %lane to float
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %r0 = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %lane, i32 1, i32 0)
  %f1 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %float, i32 1, i32 31)
  %r1 = fptosi float %f1 to i32
  %s2 = call { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32 -1, i32 %lane, i32 1, i32 31)
  %r2 = extractvalue { i32, i1 } %s2, 0
  %s3 = call { float, i1 } @llvm.nvvm.shfl.sync.idx.f32p(i32 -1, float %float, i32 31, i32 31)
  %f3 = extractvalue { float, i1 } %s3, 0
  %r3 = fptosi float %f3 to i32
  %below20 = icmp ult i32 %lane, 20
  %below4 = icmp ult i32 %lane, 4
  %b4 = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %below20)
  %r4 = zext i1 %b4 to i32
  %b5 = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %below20)
  %r5 = zext i1 %b5 to i32
  %b6 = call i1 @llvm.nvvm.vote.uni.sync(i32 -1, i1 %below20)
  %r6 = zext i1 %b6 to i32
  %r7 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %below4)
  %value = sub i32 %lane, 4
  %r8 = call i32 @llvm.nvvm.redux.sync.add(i32 %value, i32 -1)
  %r9 = call i32 @llvm.nvvm.redux.sync.min(i32 %value, i32 -1)
  %r10 = call i32 @llvm.nvvm.redux.sync.max(i32 %value, i32 -1)
  %r11 = call i32 @llvm.nvvm.redux.sync.umin(i32 %value, i32 -1)
  %r12 = call i32 @llvm.nvvm.redux.sync.umax(i32 %value, i32 -1)
  %r13 = call i32 @llvm.nvvm.redux.sync.and(i32 %value, i32 -1)
  %r14 = call i32 @llvm.nvvm.redux.sync.or(i32 %value, i32 -1)
  %r15 = call i32 @llvm.nvvm.redux.sync.xor(i32 %lane, i32 -1)
  %eighth = lshr i32 %lane, 3
  %r16 = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %eighth)
  %wide = zext i32 %lane to i64
  %s17 = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 -1, i64 %wide)
  %r17 = extractvalue { i32, i1 } %s17, 0
  %b18 = extractvalue { i32, i1 } %s17, 1
  %r18 = zext i1 %b18 to i32
  %r19 = call i32 @llvm.nvvm.activemask()
  %s20 = call { i32, i1 } @llvm.nvvm.elect.sync(i32 -1)
  %r20 = extractvalue { i32, i1 } %s20, 0
  %b21 = extractvalue { i32, i1 } %s20, 1
  %r21 = zext i1 %b21 to i32
  %is = icmp eq i32 %lane, 5
  br i1 %is, label %write, label %end
write:
  call void @put(ptr addrspace(1) %out, i32 0, i32 %r0)
  call void @put(ptr addrspace(1) %out, i32 1, i32 %r1)
  call void @put(ptr addrspace(1) %out, i32 2, i32 %r2)
  call void @put(ptr addrspace(1) %out, i32 3, i32 %r3)
  call void @put(ptr addrspace(1) %out, i32 4, i32 %r4)
  call void @put(ptr addrspace(1) %out, i32 5, i32 %r5)
  call void @put(ptr addrspace(1) %out, i32 6, i32 %r6)
  call void @put(ptr addrspace(1) %out, i32 7, i32 %r7)
  call void @put(ptr addrspace(1) %out, i32 8, i32 %r8)
  call void @put(ptr addrspace(1) %out, i32 9, i32 %r9)
  call void @put(ptr addrspace(1) %out, i32 10, i32 %r10)
  call void @put(ptr addrspace(1) %out, i32 11, i32 %r11)
  call void @put(ptr addrspace(1) %out, i32 12, i32 %r12)
  call void @put(ptr addrspace(1) %out, i32 13, i32 %r13)
  call void @put(ptr addrspace(1) %out, i32 14, i32 %r14)
  call void @put(ptr addrspace(1) %out, i32 15, i32 %r15)
  call void @put(ptr addrspace(1) %out, i32 16, i32 %r16)
  call void @put(ptr addrspace(1) %out, i32 17, i32 %r17)
  call void @put(ptr addrspace(1) %out, i32 18, i32 %r18)
  call void @put(ptr addrspace(1) %out, i32 19, i32 %r19)
  call void @put(ptr addrspace(1) %out, i32 20, i32 %r20)
  call void @put(ptr addrspace(1) %out, i32 21, i32 %r21)
  br label %end
end:
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.aligned.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
declare void @llvm.nvvm.barrier.cta.sync.count(i32, i32)
declare void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32, i32)
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32, i1)
declare i1 @llvm.nvvm.barrier.cta.red.or.aligned.count(i32, i32, i1)
declare void @llvm.nvvm.membar.cta()
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.membar.sys()
declare void @llvm.nvvm.nanosleep(i32)
declare void @llvm.nvvm.exit()

; Thread 0 writes what the barriers gave; the second warp ends after it arrived.
; BARRIERS: 0: i32 [10, 0, 1, 7, 0, 0, 0, 0]
define ptx_kernel void @barriers(ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %below10 = icmp ult i32 %t, 10
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  call void @llvm.nvvm.barrier.cta.sync.all(i32 2)
  call void @llvm.nvvm.barrier.cta.sync.count(i32 3, i32 64)
  %r0 = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %below10)
  %b1 = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %below10)
  %r1 = zext i1 %b1 to i32
  %b2 = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.count(i32 0, i32 64, i1 %below10)
  %r2 = zext i1 %b2 to i32
  call void @llvm.nvvm.membar.cta()
  call void @llvm.nvvm.membar.sys()
  call void @llvm.nvvm.nanosleep(i32 20)
  fence seq_cst
  %isSecond = icmp uge i32 %t, 32
  br i1 %isSecond, label %second, label %first
second:
  %isLast = icmp eq i32 %t, 63
  br i1 %isLast, label %write, label %arrive
write:
  call void @put(ptr addrspace(1) %out, i32 3, i32 7)
  br label %arrive
arrive:
  call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 4, i32 64)
  call void @llvm.nvvm.exit()
  unreachable
first:
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 4, i32 64)
  %isFirst = icmp eq i32 %t, 0
  br i1 %isFirst, label %all, label %end
all:
  %p = getelementptr i32, ptr addrspace(1) %out, i32 3
  %r3 = load i32, ptr addrspace(1) %p
  call void @put(ptr addrspace(1) %out, i32 0, i32 %r0)
  call void @put(ptr addrspace(1) %out, i32 1, i32 %r1)
  call void @put(ptr addrspace(1) %out, i32 2, i32 %r2)
  call void @put(ptr addrspace(1) %out, i32 3, i32 %r3)
  br label %end
end:
  ret void
}

declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.ca.shared.global.8.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare void @llvm.nvvm.cp.async.wait.all()

; COPIES: 1: i32 [0, 1, 2, 3, 4, 4, 5, 6]
define ptx_kernel void @copies(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %s4 = getelementptr i32, ptr addrspace(3) @sharedNumbers, i32 4
  %s6 = getelementptr i32, ptr addrspace(3) @sharedNumbers, i32 6
  %s8 = getelementptr i32, ptr addrspace(3) @sharedNumbers, i32 8
  %g4 = getelementptr i32, ptr addrspace(1) %in, i32 4
  %g6 = getelementptr i32, ptr addrspace(1) %in, i32 6
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) @sharedNumbers, ptr addrspace(1) %in)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %s4, ptr addrspace(1) %g4)
  call void @llvm.nvvm.cp.async.ca.shared.global.8.s(ptr addrspace(3) %s6, ptr addrspace(1) %g6, i32 4)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  %first = load <4 x i32>, ptr addrspace(3) @sharedNumbers
  store <4 x i32> %first, ptr addrspace(1) %out
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %s8, ptr addrspace(1) %g4)
  call void @llvm.nvvm.cp.async.wait.all()
  %v4 = load i32, ptr addrspace(3) %s4
  call void @put(ptr addrspace(1) %out, i32 4, i32 %v4)
  %v8 = load <2 x i32>, ptr addrspace(3) %s8
  %e0 = extractelement <2 x i32> %v8, i32 0
  %e1 = extractelement <2 x i32> %v8, i32 1
  call void @put(ptr addrspace(1) %out, i32 5, i32 %e0)
  call void @put(ptr addrspace(1) %out, i32 6, i32 %e1)
  %v6 = load <2 x i32>, ptr addrspace(3) %s6
  %e6 = extractelement <2 x i32> %v6, i32 0
  %e7 = extractelement <2 x i32> %v6, i32 1
  %sum = add i32 %e6, %e7
  call void @put(ptr addrspace(1) %out, i32 7, i32 %sum)
  ret void
}

declare i1 @llvm.nvvm.isspacep.shared(ptr)
declare i1 @llvm.nvvm.isspacep.global(ptr)
declare i1 @llvm.nvvm.isspacep.local(ptr)
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3), ptr addrspace(1), i64, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)

; A constant, a variable of the device, blocks of bytes, spaces of pointers.
; MEMORY: 1: i32 [7, 4, 5, 6, 13, -1, 6, 1]
define ptx_kernel void @memory(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %p = getelementptr [4 x i32], ptr addrspace(4) @table, i32 0, i32 2
  %v0 = load i32, ptr addrspace(4) %p
  call void @put(ptr addrspace(1) %out, i32 0, i32 %v0)
  %old = atomicrmw add ptr addrspace(1) @counter, i32 0 seq_cst
  store i32 4, ptr addrspace(1) @counter
  %v1 = load i32, ptr addrspace(1) @counter
  call void @put(ptr addrspace(1) %out, i32 1, i32 %v1)
  %g5 = getelementptr i32, ptr addrspace(1) %in, i32 5
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 4 @sharedNumbers, ptr addrspace(1) align 4 %g5, i64 12, i1 false)
  %generic = addrspacecast ptr addrspace(3) @sharedNumbers to ptr
  %v2 = load i32, ptr %generic
  call void @put(ptr addrspace(1) %out, i32 2, i32 %v2)
  %exchanged = cmpxchg ptr %generic, i32 5, i32 13 seq_cst seq_cst
  %next = getelementptr i32, ptr %generic, i32 1
  %v3 = load i32, ptr %next
  call void @put(ptr addrspace(1) %out, i32 3, i32 %v3)
  %v4 = load i32, ptr %generic
  call void @put(ptr addrspace(1) %out, i32 4, i32 %v4)
  %o5 = getelementptr i32, ptr addrspace(1) %out, i32 5
  call void @llvm.memset.p1.i64(ptr addrspace(1) align 4 %o5, i8 -1, i64 4, i1 false)
  %local = alloca i32, addrspace(5)
  %localGeneric = addrspacecast ptr addrspace(5) %local to ptr
  %outGeneric = addrspacecast ptr addrspace(1) %out to ptr
  store i32 6, ptr addrspace(5) %local
  %v6 = load i32, ptr %localGeneric
  call void @put(ptr addrspace(1) %out, i32 6, i32 %v6)
  %isShared = call i1 @llvm.nvvm.isspacep.shared(ptr %generic)
  %isLocal = call i1 @llvm.nvvm.isspacep.local(ptr %localGeneric)
  %isGlobal = call i1 @llvm.nvvm.isspacep.global(ptr %outGeneric)
  %both = and i1 %isShared, %isLocal
  %all = and i1 %both, %isGlobal
  %v7 = zext i1 %all to i32
  call void @put(ptr addrspace(1) %out, i32 7, i32 %v7)
  ret void
}

declare <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1), <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p1(<4 x i32>, ptr addrspace(1), <4 x i1>)

; What the mask leaves out is not accessed: there are three numbers.
; MASKED: 1: i32 [0, 0, 2, 9]
define ptx_kernel void @masked(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %v = call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 4 %in, <4 x i1> <i1 true, i1 true, i1 true, i1 false>, <4 x i32> <i32 9, i32 9, i32 9, i32 9>)
  call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) align 4 %out, <4 x i1> <i1 true, i1 false, i1 true, i1 true>)
  ret void
}

; LIMITED: kernel 'limited': a block of 64 threads is impossible: it may have 32
define ptx_kernel void @limited(ptr addrspace(1) %out) #0 {
  ret void
}

; REQUIRED: kernel 'required': a block of 64 x 1 x 1 threads, but the kernel is compiled for 32 x 2 x 1
define ptx_kernel void @required() #1 {
  ret void
}

@message = private addrspace(1) constant [15 x i8] c"index in range\00"
declare void @__assertfail(ptr, ptr, i32, ptr, i64)

; ASSERTS: kernel 'asserts', block (0, 0, 0), thread (2, 0, 0) fails an assertion: index in range, at [@asserts:{{[0-9]+}}: call void @__assertfail
define ptx_kernel void @asserts() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %is = icmp eq i32 %t, 2
  br i1 %is, label %fail, label %end
fail:
  %generic = addrspacecast ptr addrspace(1) @message to ptr
  call void @__assertfail(ptr %generic, ptr %generic, i32 1, ptr %generic, i64 1)
  unreachable
end:
  ret void
}

declare void @llvm.trap()

; TRAPS: thread (0, 0, 0) executes a trap, at [@traps:1: call void @llvm.trap()]
define ptx_kernel void @traps() {
  call void @llvm.trap()
  unreachable
}

attributes #0 = { "nvvm.maxntid"="32" }
attributes #1 = { "nvvm.reqntid"="32,2" }
