// Products of a warpgroup that are asked for too early, or used too early.

// RUN: %python %S/Inputs/warpgroup_kernels.py mistakes > %t.mlir
// RUN: %lower_hopper %t.mlir > %t
// DEFINE: %{kernel} =
// DEFINE: %{run} = not emulate-kernel %t --kernel=%{kernel} --block=128 f16:64x16:zero f16:8x16:zero tensormap=0:64x16:64x16:32 tensormap=1:8x16:8x16:32 i32:1:zero f32:512:zero 2>&1

// REDEFINE: %{kernel} = no_wait
// RUN: %{run} | FileCheck %s --check-prefix=WAIT
// WAIT: error: kernel 'no_wait', block (0, 0, 0), thread ({{[0-9]+}}, 0, 0) uses a result of wgmma.mma_async [@no_wait:{{[0-9]+}}: %{{[0-9]+}} = call { float, float, float, float } @sparse_autograd.wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16({{.*}}], which has not been waited for, at [@no_wait:{{[0-9]+}}: store float

// REDEFINE: %{kernel} = no_fence
// RUN: %{run} | FileCheck %s --check-prefix=FENCE
// FENCE: executes wgmma.mma_async on registers, without a wgmma.fence after what wrote them, at [@no_fence:

// REDEFINE: %{kernel} = early_wait
// RUN: %{run} | FileCheck %s --check-prefix=TILE
// TILE: reads 16 bytes at offset 0 of shared memory, which a cp.async.bulk writes that has not been waited for, at [@early_wait:
