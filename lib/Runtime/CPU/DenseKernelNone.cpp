//===- DenseKernelNone.cpp - A runtime without a BLAS -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseKernel.h"

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
