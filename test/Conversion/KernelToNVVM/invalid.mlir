// RUN: sparse-opt %s --pass-pipeline="builtin.module(gpu.module(sparse-autograd-kernel-to-nvvm))" --verify-diagnostics --split-input-file

// A tensor has no form in a kernel.
gpu.module @tensors {
  gpu.func @f(%x: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    // expected-error @below {{'tensor.empty' has no form in a kernel; lower it before sparse-autograd-kernel-to-nvvm}}
    %t = tensor.empty() : tensor<4xf32>
    %v = "tensor.extract"(%t, %c0) : (tensor<4xf32>, index) -> f32
    memref.store %v, %x[%c0] : memref<4xf32>
    gpu.return
  }
}

// -----

gpu.module @divergent {
  gpu.func @f(%x: memref<64xf32>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<64xf32>
    // expected-error @below {{'gpu.all_reduce' op must be uniform: all threads of a block take part in a reduction over it, or none}}
    %s = gpu.all_reduce add %v {} : (f32) -> f32
    memref.store %s, %x[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @powers {
  gpu.func @f(%x: memref<64xi32>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<64xi32>
    // expected-error @below {{'math.ipowi' has no form in a kernel on these types}}
    %s = math.ipowi %v, %v : i32
    memref.store %s, %x[%i] : memref<64xi32>
    gpu.return
  }
}

// -----

gpu.module @integers {
  gpu.func @f(%a: i64, %b: i64, %x: !llvm.ptr) kernel {
    %sums = llvm.mlir.undef : !llvm.struct<(i32, i32, i32, i32)>
    // expected-error @below {{'nvvm.wgmma.mma_async' op has types or a shape that kernels do not have; f16, bf16 and tf32 are there, with sums of f32 or, of f16, of f16}}
    %y = nvvm.wgmma.mma_async %a, %b, %sums, <m = 64, n = 8, k = 32>, D [<s32>, <one>, <satfinite>], A [<s8>, <one>, <row>], B [<s8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32)> -> !llvm.struct<(i32, i32, i32, i32)>
    llvm.store %y, %x : !llvm.struct<(i32, i32, i32, i32)>, !llvm.ptr
    gpu.return
  }
}
