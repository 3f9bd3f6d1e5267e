// RUN: not sparse-opt %s --sparse-autograd="target=gpu chip=gfx90a" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not sparse-opt %s --sparse-autograd=threads=2 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not sparse-opt %s --sparse-autograd=compile-to=middle 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not sparse-opt %s --sparse-autograd="target=gpu libraries=cublaslt,cublas" 2>&1 | FileCheck %s --check-prefix=LIBRARY

// CHIP: error: {{.*}}'gfx90a' is no chip of NVIDIA's that LLVM knows
// THREADS: threads must be 0 (the runtime decides) or 1; set any other number in the runtime, when the code runs
// LIBRARY: there is no library 'cublas': libraries are cublaslt and cusparse
// PHASE: Cannot find option named 'middle'

func.func @f() -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %ones : tensor<4xf32>
}
