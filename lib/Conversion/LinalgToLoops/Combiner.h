//===- Combiner.h - how a reduction combines --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_COMBINER_H
#define SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_COMBINER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Brings the combiners of `op`'s outputs into a form that vectorizes:
/// `select(m, combine(acc, x), acc)` becomes `combine(acc, select(m, x, e))`
/// with e the neutral element, and sums and products get `reassoc`.
void normalizeCombiners(mlir::linalg::LinalgOp op,
                        mlir::RewriterBase &rewriter);

/// The one op that combines output `output`'s element with another value, if
/// the region has that form and the op's neutral element is known; else null.
/// The value combined does not depend on the element.
mlir::Operation *getCombiner(mlir::linalg::LinalgOp op, unsigned output);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_LINALGTOLOOPS_COMBINER_H
