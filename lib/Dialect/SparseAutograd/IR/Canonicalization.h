//===- Canonicalization.h - of ops of other dialects ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Canonicalizations of samples; and of ops of MLIR in cases that MLIR gets
// wrong (LLVM 22.1), with a benefit above that of upstream's, which is 1.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIALECT_SPARSEAUTOGRAD_IR_CANONICALIZATION_H
#define SPARSEAUTOGRAD_LIB_DIALECT_SPARSEAUTOGRAD_IR_CANONICALIZATION_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// What computes the elements that a sample, or a copy to a pattern, asks for
/// computes them there.
void populateSamplePatterns(mlir::RewritePatternSet &patterns);
void populateCopyToPatternPatterns(mlir::RewritePatternSet &patterns);

/// Slices that drop dimensions, or have no elements.
void populateSliceCanonicalizationPatterns(mlir::RewritePatternSet &patterns);

/// Reshapes, slices, padding and concatenations of sparse tensors.
void populateMoveCanonicalizationPatterns(mlir::RewritePatternSet &patterns);

/// Extents of sparse operands that follow from those of others.
void populateShapeCanonicalizationPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIALECT_SPARSEAUTOGRAD_IR_CANONICALIZATION_H
