//===- SparseElementwise.h - elementwise ops that change types --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_SPARSEELEMENTWISE_H
#define SPARSEAUTOGRAD_TRANSFORMS_SPARSEELEMENTWISE_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Adds a pattern that makes elementwise ops on sparse tensors linalg, where no
/// operand has the type of the result; MLIR's does where one has.
void populateSparseElementwisePatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_SPARSEELEMENTWISE_H
