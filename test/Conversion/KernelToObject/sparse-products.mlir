// Sparse products of a warp with ordered metadata need PTX 8.5, which is written where
// nobody asks for another version; one that lacks them is an error.

// RUN: sparse-opt %s --pass-pipeline="builtin.module(sparse-autograd-kernel-to-object{ptx=sm_80})" | FileCheck %s
// RUN: sparse-opt %s --pass-pipeline="builtin.module(sparse-autograd-kernel-to-object{ptx=sm_80 features=+ptx86})" | FileCheck %s --check-prefix=ASKED
// RUN: not sparse-opt %s --pass-pipeline="builtin.module(sparse-autograd-kernel-to-object{ptx=sm_80 features=+ptx71})" 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not sparse-opt %s --pass-pipeline="builtin.module(sparse-autograd-kernel-to-object{ptx=sm_90 features=+sm90,+ptx80})" 2>&1 | FileCheck %s --check-prefix=OLDER

// CHECK: .version 8.5
// CHECK: mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32
// ASKED: .version 8.6
// OLD: error: 'gpu.module' op needs version 8.5 of PTX for its sparse products, of which 'features' asks for 7.1
// OLDER: error: 'gpu.module' op needs version 8.5 of PTX for its sparse products, of which 'features' asks for 8.0
gpu.module @kernels {
  llvm.func @product(%p: !llvm.ptr<1>, %a: vector<2xf16>, %b: vector<2xf16>, %c: f32, %metadata: i32) attributes {nvvm.kernel} {
    %selector = llvm.mlir.constant(1 : i32) : i32
    %d = nvvm.mma.sp.sync A[%a, %a, %a, %a] B[%b, %b, %b, %b] C[%c, %c, %c, %c] sparseMetadata[%metadata] selector[%selector]
         {orderedMetadata, shape = #nvvm.shape<m = 16, n = 8, k = 32>} : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %e = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    llvm.store %e, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
