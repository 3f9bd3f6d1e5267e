//===- FoldNegations.h - subtract what is negated and added -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_FOLDNEGATIONS_H
#define SPARSEAUTOGRAD_TRANSFORMS_FOLDNEGATIONS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// The opposite of `value`, a negation or a product or a selection of one,
/// where that is an operation less; null otherwise. What is zero may change its
/// sign.
mlir::Value dropNegation(mlir::OpBuilder &builder, mlir::Value value);

/// Makes a + -b and a + -b * c subtractions; so are sums in the region of a
/// linalg.generic with what another one negated.
void populateFoldNegationsPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_FOLDNEGATIONS_H
