//===- ScatterDims.cpp - extents of what scatters -------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/ScatterDims.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace {
struct DimOfScatter : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp dim,
                                PatternRewriter &rewriter) const override {
    auto op = dim.getSource().getDefiningOp<linalg::LinalgOp>();
    if (!op)
      return failure();
    auto result = cast<OpResult>(dim.getSource());
    if (op.getIndexingMapMatchingResult(result).isProjectedPermutation())
      return failure();
    Value init = op.getDpsInitOperand(result.getResultNumber())->get();
    rewriter.modifyOpInPlace(dim, [&] { dim.getSourceMutable().assign(init); });
    return success();
  }
};
} // namespace

void sparse_autograd::populateScatterDimsPatterns(RewritePatternSet &patterns) {
  patterns.add<DimOfScatter>(patterns.getContext(), /*benefit=*/2);
}
