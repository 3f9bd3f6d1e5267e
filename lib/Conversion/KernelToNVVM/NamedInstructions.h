//===- NamedInstructions.h - Instructions without inline PTX ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTONVVM_NAMEDINSTRUCTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTONVVM_NAMEDINSTRUCTIONS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace sparse_autograd {

/// Gives NVVM ops a form that is no inline PTX, where the conversion to LLVM
/// would write that: predicates become branches, waits become loops, and what
/// has no intrinsic becomes a call of a function that is named after the
/// instruction.
mlir::LogicalResult nameInstructions(mlir::gpu::GPUModuleOp module);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTONVVM_NAMEDINSTRUCTIONS_H
