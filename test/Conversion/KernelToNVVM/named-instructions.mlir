// What MLIR would write as inline PTX has another form: predicates are branches,
// waits are loops.

// RUN: sparse-opt %s -pass-pipeline="builtin.module(gpu.module(sparse-autograd-kernel-to-nvvm))" | FileCheck %s --implicit-check-not=inline_asm

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @guarded(
  // CHECK-SAME: %[[OBJECT:.*]]: !llvm.ptr<3>, %[[MAP:.*]]: !llvm.ptr, %[[N:.*]]: i32, %[[P:.*]]: i1
  gpu.func @guarded(%object: !llvm.ptr<3>, %map: !llvm.ptr, %n: i32, %p: i1)
      kernel {
    // CHECK: llvm.cond_br %[[P]], ^[[THEN:.*]], ^[[AFTER:.*]]
    // CHECK: ^[[THEN]]:
    // CHECK-NEXT: nvvm.mbarrier.init %[[OBJECT]], %[[N]] : !llvm.ptr<3>, i32
    // CHECK-NEXT: llvm.br ^[[AFTER]]
    nvvm.mbarrier.init %object, %n, predicate = %p : !llvm.ptr<3>, i32, i1
    // CHECK: nvvm.mbarrier.arrive.expect_tx %[[OBJECT]], %[[N]] : !llvm.ptr<3>, i32
    nvvm.mbarrier.arrive.expect_tx %object, %n, predicate = %p : !llvm.ptr<3>, i32, i1
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]], %[[OBJECT]], box[%[[N]]]
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %object, box[%n], predicate = %p : !llvm.ptr, !llvm.ptr<3>
    // CHECK: nvvm.prefetch tensormap, %[[MAP]] : !llvm.ptr
    nvvm.prefetch tensormap, %map, predicate = %p : !llvm.ptr, i1
    gpu.return
  }

  // CHECK-LABEL: llvm.func @waits(
  // CHECK-SAME: %[[OBJECT:.*]]: !llvm.ptr<3>, %[[PHASE:.*]]: i32, %[[TICKS:.*]]: i32
  gpu.func @waits(%object: !llvm.ptr<3>, %phase: i32, %ticks: i32) kernel {
    // CHECK: llvm.br ^[[LOOP:.*]]
    // CHECK: ^[[LOOP]]:
    // CHECK-NEXT: %[[DONE:.*]] = nvvm.mbarrier.try_wait %[[OBJECT]], %[[PHASE]], %[[TICKS]]
    // CHECK-NEXT: llvm.cond_br %[[DONE]], ^[[END:.*]], ^[[LOOP]]
    nvvm.mbarrier.try_wait.parity %object, %phase, %ticks : !llvm.ptr<3>, i32, i32
    // CHECK: ^[[END]]:
    // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[PHASE]], %[[TICKS]])
    nvvm.barrier.arrive id = %phase number_of_threads = %ticks
    gpu.return
  }
}

// Parameters that are passed by value stay that, and stay where they are.
gpu.module @parameters {
  // CHECK: llvm.func @by_value(
  // CHECK-SAME: %{{[^,]*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{[^,]*}}: i32)
  gpu.func @by_value(%x: memref<2x?xf32>, %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64}, %n: i32) kernel {
    nvvm.prefetch tensormap, %map : !llvm.ptr
    gpu.return
  }
}
