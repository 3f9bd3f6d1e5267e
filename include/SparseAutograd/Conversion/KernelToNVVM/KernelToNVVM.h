//===- KernelToNVVM.h - kernels to the NVVM dialect -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_KERNELTONVVM_KERNELTONVVM_H
#define SPARSEAUTOGRAD_CONVERSION_KERNELTONVVM_KERNELTONVVM_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL_KERNELTONVVM
#include "SparseAutograd/Conversion/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_KERNELTONVVM_KERNELTONVVM_H
