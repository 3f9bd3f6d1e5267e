; Kernels have the shared variables that they alone use at the same places: two of
; 40 KB each would not fit a block. What two functions use lies elsewhere.

; RUN: emulate-kernel %s --kernel=first --block=2 --seeds=2 i32:2:iota | FileCheck %s
; RUN: emulate-kernel %s --kernel=second --block=2 --seeds=2 i32:2:iota | FileCheck %s
; CHECK: 0: i32 [1, 0]

target triple = "nvptx64-nvidia-cuda"

@own1 = internal addrspace(3) global [10000 x i32] poison, align 16
@own2 = internal addrspace(3) global [10000 x i32] poison, align 16
@both = internal addrspace(3) global [2 x i32] poison, align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define internal void @exchange(ptr addrspace(1) %x, ptr addrspace(3) %own) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %other = xor i32 %thread, 1
  %place = getelementptr i32, ptr addrspace(1) %x, i32 %thread
  %v = load i32, ptr addrspace(1) %place
  %to = getelementptr i32, ptr addrspace(3) @both, i32 %thread
  store i32 %v, ptr addrspace(3) %to
  %beside = getelementptr i32, ptr addrspace(3) %own, i32 %thread
  store i32 7, ptr addrspace(3) %beside
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %from = getelementptr i32, ptr addrspace(3) @both, i32 %other
  %w = load i32, ptr addrspace(3) %from
  store i32 %w, ptr addrspace(1) %place
  ret void
}

define ptx_kernel void @first(ptr addrspace(1) %x) {
  call void @exchange(ptr addrspace(1) %x, ptr addrspace(3) @own1)
  ret void
}

define ptx_kernel void @second(ptr addrspace(1) %x) {
  call void @exchange(ptr addrspace(1) %x, ptr addrspace(3) @own2)
  ret void
}
