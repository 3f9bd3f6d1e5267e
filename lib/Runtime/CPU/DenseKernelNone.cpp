//===- DenseKernelNone.cpp - A runtime without a BLAS -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseKernel.h"
#include "ThreadState.h"

namespace sparse_autograd {
namespace runtime {

void prepareKernel() {}

void multiplyBlock(const KernelArguments<float> &arguments) {
  multiplyByLoops(arguments);
}

void multiplyBlock(const KernelArguments<double> &arguments) {
  multiplyByLoops(arguments);
}

} // namespace runtime
} // namespace sparse_autograd

int32_t sparseAutogradSetBlas(const char *) {
  sparse_autograd::runtime::setLastError(
      SPARSE_AUTOGRAD_INVALID_ARGUMENT, "the runtime was built without a BLAS");
  return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
}

int32_t sparseAutogradGetBlas(const char **file) {
  if (file)
    *file = nullptr;
  return SPARSE_AUTOGRAD_BLAS_MISSING;
}
