//===- EmptyLoops.cpp - operations over nothing ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

using namespace mlir;

/// Whether a loop of `op` runs over a dimension of no extent.
static bool hasEmptyLoop(linalg::LinalgOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    ArrayRef<AffineExpr> indices =
        op.getMatchingIndexingMap(&operand).getResults();
    for (auto [index, extent] : llvm::zip_equal(indices, op.getShape(&operand)))
      if (extent == 0 && isa<AffineDimExpr>(index))
        return true;
  }
  return false;
}

namespace {

struct RemoveEmptyLoops : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !hasEmptyLoop(op))
      return failure();
    rewriter.replaceOp(op, llvm::to_vector(op.getDpsInits()));
    return success();
  }
};

} // namespace

namespace sparse_autograd {

void populateRemoveEmptyLoopsPatterns(RewritePatternSet &patterns) {
  patterns.add<RemoveEmptyLoops>(patterns.getContext());
}

} // namespace sparse_autograd
