//===- FuseUpdates.h - updates of rows in one pass --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_FUSEUPDATES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_FUSEUPDATES_H

#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// An op with dense results that is to be visited where one of its sparse
/// operands stores something, and nowhere else: elsewhere its results are its
/// inits. That does not follow from its region.
struct FusedUpdate {
  mlir::linalg::GenericOp op;
  /// The number of the operand.
  unsigned pattern;
};

/// Fuses the elementwise ops of `block` that change dense tensors where row-
/// sparse ones of one pattern store rows, and what computes the changes at that
/// pattern. A step of a row-sparse optimizer,
///
///   old = sample(m, g); dm = f(g, old); dx = h(dm)
///   x' = accumulate(x, dx); m' = accumulate(m, dm)
///
/// becomes one op that reads and writes each row of x and m once. Ops with
/// other patterns than rows are left alone: of rows the innermost loop is
/// dense, and vectorizes.
llvm::SmallVector<FusedUpdate> fuseUpdates(mlir::RewriterBase &rewriter,
                                           mlir::Block &block,
                                           SparsePatterns &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_FUSEUPDATES_H
