; Every intrinsic of mbarriers: counts and answers of one thread.

; RUN: emulate-kernel %s --seeds=3 i32:13:zero | FileCheck %s
; The arrivals that are left before each of them; then what tests say.
; CHECK: 0: i32 [9, 8, 6, 5, 4, 3, 1, 0, 0, 1, 1, 1, 6]

target triple = "nvptx64-nvidia-cuda"

@object = internal addrspace(3) global i64 undef, align 8

declare void @llvm.nvvm.mbarrier.init(ptr, i32)
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare void @llvm.nvvm.mbarrier.inval(ptr)
declare i64 @llvm.nvvm.mbarrier.arrive(ptr)
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare i64 @llvm.nvvm.mbarrier.arrive.noComplete.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.drop.shared(ptr addrspace(3))
declare i64 @llvm.nvvm.mbarrier.arrive.drop.noComplete.shared(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.scope.cta.space.cta(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.relaxed.scope.cluster.space.cta(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.drop.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i64 @llvm.nvvm.mbarrier.arrive.drop.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.mbarrier.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.mbarrier.complete.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3), i64)
declare i1 @llvm.nvvm.mbarrier.test.wait.scope.cta.space.cta(ptr addrspace(3), i64)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.tl.relaxed.scope.cta.space.cta(ptr addrspace(3), i64, i32)
declare i32 @llvm.nvvm.mbarrier.pending.count(i64)
declare void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3))
declare void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3))
declare void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()
declare void @llvm.nvvm.fence.proxy.async.shared_cta()

@copied = internal addrspace(3) global i32 undef, align 4

define void @put(ptr addrspace(1) %out, i32 %i, i64 %state) {
  %n = call i32 @llvm.nvvm.mbarrier.pending.count(i64 %state)
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %n, ptr addrspace(1) %p
  ret void
}

define void @answer(ptr addrspace(1) %out, i32 %i, i1 %answer) {
  %n = zext i1 %answer to i32
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %n, ptr addrspace(1) %p
  ret void
}

define ptx_kernel void @counts(ptr addrspace(1) %out) {
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @object, i32 9)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  %a = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @object)
  call void @put(ptr addrspace(1) %out, i32 0, i64 %a)
  %b = call i64 @llvm.nvvm.mbarrier.arrive.noComplete.shared(ptr addrspace(3) @object, i32 2)
  call void @put(ptr addrspace(1) %out, i32 1, i64 %b)
  %c = call i64 @llvm.nvvm.mbarrier.arrive.drop.shared(ptr addrspace(3) @object)
  call void @put(ptr addrspace(1) %out, i32 2, i64 %c)
  %d = call i64 @llvm.nvvm.mbarrier.arrive.drop.noComplete.shared(ptr addrspace(3) @object, i32 1)
  call void @put(ptr addrspace(1) %out, i32 3, i64 %d)
  %e = call i64 @llvm.nvvm.mbarrier.arrive.drop.expect.tx.scope.cta.space.cta(ptr addrspace(3) @object, i32 16)
  call void @put(ptr addrspace(1) %out, i32 4, i64 %e)
  %f = call i64 @llvm.nvvm.mbarrier.arrive.scope.cta.space.cta(ptr addrspace(3) @object, i32 2)
  call void @put(ptr addrspace(1) %out, i32 5, i64 %f)
  %g = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.relaxed.scope.cluster.space.cta(ptr addrspace(3) @object, i32 16)
  call void @put(ptr addrspace(1) %out, i32 6, i64 %g)
  ; Bytes are missing; then they are not.
  %h = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) @object, i64 %g)
  call void @answer(ptr addrspace(1) %out, i32 7, i1 %h)
  call void @llvm.nvvm.mbarrier.expect.tx.scope.cta.space.cta(ptr addrspace(3) @object, i32 8)
  call void @llvm.nvvm.mbarrier.complete.tx.scope.cta.space.cta(ptr addrspace(3) @object, i32 24)
  %i = call i1 @llvm.nvvm.mbarrier.test.wait.scope.cta.space.cta(ptr addrspace(3) @object, i64 %g)
  call void @answer(ptr addrspace(1) %out, i32 8, i1 %i)
  call void @llvm.nvvm.mbarrier.complete.tx.scope.cta.space.cta(ptr addrspace(3) @object, i32 16)
  %j = call i1 @llvm.nvvm.mbarrier.test.wait.scope.cta.space.cta(ptr addrspace(3) @object, i64 %g)
  call void @answer(ptr addrspace(1) %out, i32 9, i1 %j)
  %k = call i1 @llvm.nvvm.mbarrier.try.wait.tl.relaxed.scope.cta.space.cta(ptr addrspace(3) @object, i64 %g, i32 100)
  call void @answer(ptr addrspace(1) %out, i32 10, i1 %k)
  %l = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @object, i32 0)
  call void @answer(ptr addrspace(1) %out, i32 11, i1 %l)
  ; Later phases expect three arrivals less.
  %generic = addrspacecast ptr addrspace(3) @object to ptr
  %m = call i64 @llvm.nvvm.mbarrier.arrive(ptr %generic)
  call void @put(ptr addrspace(1) %out, i32 12, i64 %m)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) @copied, ptr addrspace(1) %out)
  call void @llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared(ptr addrspace(3) @object)
  call void @llvm.nvvm.cp.async.mbarrier.arrive.shared(ptr addrspace(3) @object)
  %n = call i64 @llvm.nvvm.mbarrier.arrive.scope.cta.space.cta(ptr addrspace(3) @object, i32 4)
  br label %loop
loop:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @object, i32 1)
  br i1 %done, label %end, label %loop
end:
  %read = load i32, ptr addrspace(3) @copied
  %same = icmp eq i32 %read, 9
  br i1 %same, label %good, label %bad
bad:
  store i32 -1, ptr addrspace(1) %out
  br label %good
good:
  call void @llvm.nvvm.mbarrier.inval(ptr %generic)
  call void @llvm.nvvm.mbarrier.init(ptr %generic, i32 1)
  ret void
}
