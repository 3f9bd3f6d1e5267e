//===- ExpandShape.cpp - views that split dimensions ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace {
/// A view that splits dimensions becomes a cast with the extents that the op
/// states. Upstream's pattern computes them and fails where two of a dimension
/// are dynamic (LLVM 22.1).
struct ExpandShapeOfStrides : OpRewritePattern<memref::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemRefType type = op.getResultType();
    int64_t staticOffset;
    SmallVector<int64_t> staticStrides;
    if (failed(type.getStridesAndOffset(staticStrides, staticOffset)))
      return rewriter.notifyMatchFailure(op, "has no strides");
    auto source =
        memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    SmallVector<OpFoldResult> strides(sizes.size(), rewriter.getIndexAttr(1));
    AffineExpr product =
        rewriter.getAffineSymbolExpr(0) * rewriter.getAffineSymbolExpr(1);
    for (auto [stride, group] :
         llvm::zip_equal(source.getConstifiedMixedStrides(),
                         op.getReassociationIndices())) {
      OpFoldResult running = stride;
      for (int64_t dim : llvm::reverse(group)) {
        strides[dim] = running;
        if (dim != group.front())
          running = affine::makeComposedFoldedAffineApply(
              rewriter, loc, product, {running, sizes[dim]});
      }
    }
    // What the type says statically is said so.
    for (auto [stride, known] : llvm::zip_equal(strides, staticStrides))
      if (!ShapedType::isDynamic(known))
        stride = rewriter.getIndexAttr(known);
    OpFoldResult offset = ShapedType::isDynamic(staticOffset)
                              ? source.getConstifiedMixedOffset()
                              : rewriter.getIndexAttr(staticOffset);
    rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
        op, type, source.getBaseBuffer(), offset, sizes, strides);
    return success();
  }
};
} // namespace

void sparse_autograd::populateExpandShapePatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandShapeOfStrides>(patterns.getContext());
}
