//===- FoldBroadcasts.h - read what is broadcast where it is ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_FOLDBROADCASTS_H
#define SPARSEAUTOGRAD_TRANSFORMS_FOLDBROADCASTS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Elementwise ops, linalg.generic among them, read what a linalg.generic does
/// nothing but broadcast through a map of their own. Products of matrices stay
/// products of matrices.
void populateFoldBroadcastsPatterns(mlir::RewritePatternSet &patterns);

/// So do ops on sparse tensors, products among them: they are loops over what
/// is stored, and need not have the dense factor in memory. Not before what is
/// a product of which form matters no more.
void populateFoldBroadcastsIntoSparsePatterns(
    mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_FOLDBROADCASTS_H
