; Sums that a loop carries: who uses them is found through phis and structures.
; A and B are ones, so that four steps of 16 columns add up to 64.

; RUN: emulate-kernel %s --block=128 --seeds=3 f32:128:zero i32=-1 | FileCheck %s
; RUN: not emulate-kernel %s --block=128 f32:128:zero i32=2 2>&1 \
; RUN:   | FileCheck %s --check-prefix=USED
; RUN: not emulate-kernel %s --block=128 f32:128:zero i32=9 2>&1 \
; RUN:   | FileCheck %s --check-prefix=END
; CHECK: 0: f32 [64, 64, {{(64, )+}}64]
; USED: uses a result of wgmma.mma_async [@loop:{{[0-9]+}}: %next = call {{.*}}], which has not been waited for, at [@loop:{{[0-9]+}}: store float %early
; END: ends, but has not waited for its last wgmma.mma_async, at [@loop:{{[0-9]+}}: %next = call

target triple = "nvptx64-nvidia-cuda"

@ones = internal addrspace(3) global [256 x i32] undef, align 1024

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.wgmma.commit_group.sync.aligned()
declare void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64)
declare {float, float, float, float} @sparse_autograd.wgmma.fence.sync.aligned.f32x4({float, float, float, float})
declare {float, float, float, float} @sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16({float, float, float, float}, i64, i64, i32, i32, i32, i32, i32)

define ptx_kernel void @loop(ptr addrspace(1) %out, i32 %mistake) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr i32, ptr addrspace(3) @ones, i32 %t
  store i32 1006648320, ptr addrspace(3) %place
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %address = ptrtoint ptr addrspace(3) @ones to i64
  %piece = lshr i64 %address, 4
  %descriptor = and i64 %piece, 16383
  %to = getelementptr float, ptr addrspace(1) %out, i32 %t
  %zeros = call {float, float, float, float} @sparse_autograd.wgmma.fence.sync.aligned.f32x4({float, float, float, float} zeroinitializer)
  br label %loop

loop:
  %i = phi i32 [0, %entry], [%j, %again]
  %sums = phi {float, float, float, float} [%zeros, %entry], [%kept, %again]
  %next = call {float, float, float, float} @sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16({float, float, float, float} %sums, i64 %descriptor, i64 %descriptor, i32 1, i32 1, i32 1, i32 0, i32 0)
  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()
  %first = extractvalue {float, float, float, float} %next, 0
  %isEarly = icmp eq i32 %i, %mistake
  br i1 %isEarly, label %use, label %again

use:
  %early = fadd float %first, 1.0
  store float %early, ptr addrspace(1) %to
  br label %again

again:
  ; A structure that is taken apart and put together again.
  %second = extractvalue {float, float, float, float} %next, 1
  %kept0 = insertvalue {float, float, float, float} %next, float %second, 0
  %kept = insertvalue {float, float, float, float} %kept0, float %first, 0
  %j = add i32 %i, 1
  %isLast = icmp eq i32 %j, 4
  br i1 %isLast, label %wait, label %loop

wait:
  %never = icmp eq i32 %mistake, 9
  br i1 %never, label %end, label %done

done:
  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)
  %sum = extractvalue {float, float, float, float} %kept, 0
  store float %sum, ptr addrspace(1) %to
  br label %end

end:
  ret void
}
