//===- DenseKernel.h - One block of a dense product -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What DenseProduct.cpp asks of whoever multiplies: DenseKernelOpenBLAS.cpp, or
// DenseKernelNone.cpp where the runtime is built without OpenBLAS. Internal to
// the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_DENSEKERNEL_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_DENSEKERNEL_H

#include <cstdint>

namespace sparse_autograd {
namespace runtime {

/// The largest extent and leading dimension that a kernel is called with: those
/// of a BLAS are 32 bits.
constexpr int64_t largestKernelExtent = 0x7fffffff;

/// C = beta C + alpha op(A) op(B). The three matrices are row-major with
/// leading dimensions no smaller than their rows are long; op transposes if
/// asked to: A is (m x k) or, transposed, (k x m); B is (k x n) or, transposed,
/// (n x k). m, n, k >= 1 and alpha != 0. C is not read if beta = 0.
template <typename T>
struct KernelArguments {
  int64_t m, n, k;
  T alpha;
  const T *a;
  int64_t aLeading;
  bool aTransposed;
  const T *b;
  int64_t bLeading;
  bool bTransposed;
  T beta;
  T *c;
  int64_t cLeading;
};

/// Called before the blocks of each product.
void prepareKernel();

/// Computes one block on the calling thread. Neither raises nor allocates
/// from the runtime.
void multiplyBlock(const KernelArguments<float> &arguments);
void multiplyBlock(const KernelArguments<double> &arguments);

/// The same by loops of our own, where there is no BLAS.
void multiplyByLoops(const KernelArguments<float> &arguments);
void multiplyByLoops(const KernelArguments<double> &arguments);

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_DENSEKERNEL_H
