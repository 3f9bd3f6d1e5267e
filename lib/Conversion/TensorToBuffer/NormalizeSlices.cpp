//===- NormalizeSlices.cpp - slices that buffers can be made of -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormalizeSlices.h"

#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// How far it is from a single element to the next does not matter; but what
/// upstream makes of a view with such a stride does not end (LLVM 22.1).
template <typename OpTy>
struct NormalizeStrides : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> strides(op.getStaticStrides());
    for (auto [size, stride] : llvm::zip_equal(op.getStaticSizes(), strides))
      if (size == 1 && !ShapedType::isDynamic(stride))
        stride = 1;
    if (op.getStaticStrides() == ArrayRef(strides))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setStaticStrides(strides); });
    return success();
  }
};

} // namespace

/// Whether `op` drops dimensions and has a stride. Which dimensions the view
/// that it becomes drops is found by the strides of its source, and not found
/// where the view multiplies them (LLVM 22.1).
template <typename OpTy>
static bool dropsDimsWithStrides(OpTy op) {
  return op.getDroppedDims().any() &&
         llvm::any_of(op.getStaticStrides(),
                      [](int64_t stride) { return stride != 1; });
}

namespace {

/// The slice with all dimensions, and then those that stay.
struct SplitExtractSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!dropsDimsWithStrides(op))
      return failure();
    Value whole = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), op.getSource(), op.getMixedOffsets(),
        op.getMixedSizes(), op.getMixedStrides());
    SmallVector<OpFoldResult> zeros(op.getMixedSizes().size(),
                                    rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(zeros.size(), rewriter.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, op.getType(), whole, zeros, op.getMixedSizes(), ones);
    return success();
  }
};

/// What is inserted gets all dimensions before.
struct SplitInsertSlice : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!dropsDimsWithStrides(op))
      return failure();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    // A dimension that was dropped joins the one that stays before it; those
    // in front the first.
    SmallVector<ReassociationIndices> groups(op.getSourceType().getRank());
    unsigned kept = 0;
    for (unsigned dim = 0; dim < dropped.size(); ++dim) {
      kept += !dropped.test(dim);
      if (!groups.empty())
        groups[std::max(kept, 1u) - 1].push_back(dim);
    }
    RankedTensorType type = tensor::ExtractSliceOp::inferResultType(
        op.getDestType(), op.getStaticSizes());
    Value expanded = tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type,
                                                   op.getSource(), groups,
                                                   op.getMixedSizes());
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, expanded, op.getDest(), op.getMixedOffsets(), op.getMixedSizes(),
        op.getMixedStrides());
    return success();
  }
};

/// What begins at the end has no elements; MLIR refuses a view of it.
struct DropExtractAtEnd : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSliceAtEnd(op.getMixedOffsets(), op.getSource()))
      return failure();
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, op.getType(),
                                                 op.getSizes());
    return success();
  }
};

struct DropInsertAtEnd : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSliceAtEnd(op.getMixedOffsets(), op.getDest()))
      return failure();
    rewriter.replaceOp(op, op.getDest());
    return success();
  }
};

/// What pads nothing is all padding. Upstream inserts a slice without elements,
/// which may not begin where the verifier has it begin.
struct GenerateEmptyPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(op.getSourceType().getShape(), 0) &&
        !isSliceAtEnd(op.getMixedLowPad(), op.getResult()))
      return failure();
    ReifiedRankedShapedTypeDims extents;
    if (failed(reifyResultShapes(rewriter, op, extents)))
      return failure();
    SmallVector<Value> dynamicExtents;
    for (auto [dim, extent] : llvm::enumerate(extents.front()))
      if (op.getType().isDynamicDim(dim))
        dynamicExtents.push_back(
            getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), extent));
    auto generate = tensor::GenerateOp::create(rewriter, op.getLoc(),
                                               op.getType(), dynamicExtents);
    rewriter.inlineRegionBefore(op.getRegion(), generate.getBody(),
                                generate.getBody().end());
    rewriter.replaceOp(op, generate);
    return success();
  }
};

} // namespace

void sparse_autograd::populateNormalizeSlicesPatterns(
    RewritePatternSet &patterns) {
  patterns.add<NormalizeStrides<tensor::ExtractSliceOp>,
               NormalizeStrides<tensor::InsertSliceOp>, SplitExtractSlice,
               SplitInsertSlice, DropExtractAtEnd, DropInsertAtEnd,
               GenerateEmptyPad>(patterns.getContext());
}
