//===- FoldConstants.h - elementwise ops on constants -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_FOLDCONSTANTS_H
#define SPARSEAUTOGRAD_TRANSFORMS_FOLDCONSTANTS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// The constant that `value`, or every element of it, is; null if there is
/// none. `value` may be filled with it.
mlir::Attribute getUniformConstant(mlir::Value value);

/// A linalg.generic without reductions whose inputs are constants, each of one
/// element everywhere, is a constant: the cotangent of a mean is 1 / n. MLIR
/// folds only the transposes among them.
void populateFoldConstantsPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_FOLDCONSTANTS_H
