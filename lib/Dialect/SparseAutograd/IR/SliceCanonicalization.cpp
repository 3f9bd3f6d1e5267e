//===- SliceCanonicalization.cpp - slices that MLIR gets wrong ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Canonicalization of slices of tensors in two cases that MLIR gets wrong
// (LLVM 22.1).
//
// A slice that drops some dimensions of one and keeps others: upstream folds
// constants into its offsets, sizes and strides as if the first of them were
// dropped, which makes a slice of another shape.
//
// A slice without elements: the verifier has it begin inside of its source, and
// once the extents are constants it may not.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace sparse_autograd;

/// The elements of `sizes` that are not `dropped`.
static SmallVector<OpFoldResult>
getKeptSizes(ArrayRef<OpFoldResult> sizes,
             const llvm::SmallBitVector &dropped) {
  SmallVector<OpFoldResult> kept;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dropped.test(dim))
      kept.push_back(size);
  return kept;
}

/// Whether one of `sizes` is 0 whatever the arguments of the program are.
static bool isEmpty(ArrayRef<OpFoldResult> sizes) {
  return llvm::any_of(sizes, isZeroInteger);
}

namespace {

/// A slice without elements is an empty tensor.
struct FoldEmptyExtract : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    if (!isEmpty(sizes))
      return failure();
    RankedTensorType type = op.getType();
    (void)foldDynamicOffsetSizeList(sizes);
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), getKeptSizes(sizes, op.getDroppedDims()),
        type.getElementType(), type.getEncoding());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), type, empty));
    return success();
  }
};

/// One inserted changes nothing.
struct FoldEmptyInsert : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getMixedSizes()))
      return failure();
    rewriter.replaceOp(op, op.getDest());
    return success();
  }
};

struct FoldEmptyParallelInsert
    : OpRewritePattern<tensor::ParallelInsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ParallelInsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getMixedSizes()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

/// Offsets, sizes and strides, with what is constant as attributes.
struct Window {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

} // namespace

/// The window of `op` with constants folded into it, if it has any and drops
/// dimensions: otherwise upstream's pattern is right. As there, one that does
/// not lie in `tensor` stays, for the verifier would refuse it.
template <typename OpTy>
static FailureOr<Window> foldConstants(OpTy op, RankedTensorType tensor) {
  if (op.getDroppedDims().none())
    return failure();
  Window window = {op.getMixedOffsets(), op.getMixedSizes(),
                   op.getMixedStrides()};
  bool changed = succeeded(foldDynamicOffsetSizeList(window.offsets));
  changed |= succeeded(foldDynamicOffsetSizeList(window.sizes));
  changed |= succeeded(foldDynamicStrideList(window.strides));
  if (!changed || !verifyInBoundsSlice(tensor.getShape(), window.offsets,
                                       window.sizes, window.strides)
                       .isValid)
    return failure();
  return window;
}

/// The type of a slice of `sizes`, of which some are dropped.
static RankedTensorType getReducedType(RankedTensorType type,
                                       ArrayRef<OpFoldResult> sizes,
                                       const llvm::SmallBitVector &dropped) {
  auto [shape, values] = decomposeMixedValues(getKeptSizes(sizes, dropped));
  return type.clone(shape);
}

namespace {

struct FoldConstantsOfExtract : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<Window> window = foldConstants(op, op.getSourceType());
    if (failed(window))
      return failure();
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(),
        getReducedType(op.getType(), window->sizes, op.getDroppedDims()),
        op.getSource(), window->offsets, window->sizes, window->strides);
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getType(), slice));
    return success();
  }
};

/// Of tensor.insert_slice and tensor.parallel_insert_slice.
template <typename OpTy>
struct FoldConstantsOfInsert : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    FailureOr<Window> window = foldConstants(op, op.getDestType());
    if (failed(window))
      return failure();
    RankedTensorType type =
        getReducedType(op.getSourceType(), window->sizes, op.getDroppedDims());
    Value source;
    {
      OpBuilder::InsertionGuard guard(rewriter);
      // The terminator of a loop holds nothing but insertions.
      if (std::is_same_v<OpTy, tensor::ParallelInsertSliceOp>)
        rewriter.setInsertionPoint(op->getParentOp());
      source = castTo(rewriter, op.getLoc(), type, op.getSource());
    }
    rewriter.replaceOpWithNewOp<OpTy>(op, source, op.getDest(), window->offsets,
                                      window->sizes, window->strides);
    return success();
  }
};

} // namespace

void sparse_autograd::populateSliceCanonicalizationPatterns(
    RewritePatternSet &patterns) {
  patterns.add<FoldEmptyExtract, FoldEmptyInsert, FoldEmptyParallelInsert>(
      patterns.getContext(), /*benefit=*/3);
  patterns
      .add<FoldConstantsOfExtract, FoldConstantsOfInsert<tensor::InsertSliceOp>,
           FoldConstantsOfInsert<tensor::ParallelInsertSliceOp>>(
          patterns.getContext(), /*benefit=*/2);
}
