//===- ReductionPatterns.h - ways to shrink an operation --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_REDUCTIONPATTERNS_H
#define SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_REDUCTIONPATTERNS_H

#include "mlir/IR/DialectRegistry.h"

namespace sparse_autograd {

/// Lets `--reduction-tree` replace an operation by an operand of its type:
/// without a pattern it can only delete what nobody uses.
void registerReductionPatterns(mlir::DialectRegistry &registry);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_REDUCTIONPATTERNS_H
