//===- MoveCanonicalization.cpp - types of sparse slices and reshapes -----===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reshapes, slices, padding and concatenations of sparse tensors learn the
// extents that constants and casts tell. Upstream does so too, but makes types
// without an encoding, or with that of another tensor, and casts between
// encodings (LLVM 22.1).
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace sparse_autograd;

static bool hasSparseType(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isSparse) ||
         llvm::any_of(op->getResultTypes(), isSparse);
}

/// What `value` is cast from, if that type says no less.
static Value skipCast(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  return cast && tensor::canFoldIntoConsumerOp(cast) ? cast.getSource() : value;
}

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// `type` with the extents that `extents` know.
static RankedTensorType withExtents(RankedTensorType type,
                                    ArrayRef<OpFoldResult> extents) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [known, extent] : llvm::zip_equal(shape, extents))
    if (std::optional<int64_t> constant = getConstantIntValue(extent);
        constant && ShapedType::isDynamic(known))
      known = *constant;
  return type.clone(shape);
}

/// Whether an extent was a value and is a constant.
static bool foldExtents(SmallVectorImpl<OpFoldResult> &extents) {
  return succeeded(foldDynamicOffsetSizeList(extents));
}

/// The extents of a collapsed tensor, as far as `shape` tells.
static SmallVector<int64_t>
getCollapsedShape(ArrayRef<int64_t> shape,
                  ArrayRef<ReassociationIndices> groups) {
  SmallVector<int64_t> collapsed;
  for (const ReassociationIndices &group : groups) {
    int64_t extent = 1;
    for (int64_t part : group)
      extent =
          ShapedType::isDynamic(extent) || ShapedType::isDynamic(shape[part])
              ? ShapedType::kDynamic
              : extent * shape[part];
    collapsed.push_back(extent);
  }
  return collapsed;
}

namespace {

/// A slice, with the constants in it.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes, strides;
  bool isFolded;

  template <typename OpTy>
  static Slice of(OpTy op) {
    Slice slice{op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides(),
                false};
    slice.isFolded |= foldExtents(slice.offsets);
    slice.isFolded |= foldExtents(slice.sizes);
    slice.isFolded |= succeeded(foldDynamicStrideList(slice.strides));
    return slice;
  }

  /// Whether it may lie in `tensor`. One that does not is refused where the
  /// program runs, if it runs there; the verifier refuses it in any case.
  bool fits(Value tensor) const {
    return verifyInBoundsSlice(getType(tensor).getShape(), offsets, sizes,
                               strides)
        .isValid;
  }

  /// What `tensor`, which it is a slice of, is cast from, if it may lie there.
  Value skipCastIfFits(Value tensor) const {
    Value source = skipCast(tensor);
    return fits(source) ? source : tensor;
  }

  /// The sizes of the dimensions that are not `dropped`.
  SmallVector<OpFoldResult>
  getKeptSizes(const llvm::SmallBitVector &dropped) const {
    SmallVector<OpFoldResult> kept;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (!dropped.test(dim))
        kept.push_back(size);
    return kept;
  }
};

struct InferExtractSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasSparseType(op))
      return failure();
    Slice slice = Slice::of(op);
    Value source = slice.skipCastIfFits(op.getSource());
    RankedTensorType type =
        withExtents(op.getType(), slice.getKeptSizes(op.getDroppedDims()));
    if (!slice.isFolded && source == op.getSource() && type == op.getType())
      return failure();
    if (!slice.fits(source))
      return failure();
    Value result = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), type,
                                                  source, slice.offsets,
                                                  slice.sizes, slice.strides);
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getType(), result));
    return success();
  }
};

struct InferInsertSlice : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasSparseType(op))
      return failure();
    Slice slice = Slice::of(op);
    Value source = skipCast(op.getSource());
    Value dest = slice.skipCastIfFits(op.getDest());
    // What is cast says no less than before, so that this ends.
    RankedTensorType type =
        withExtents(getType(source), slice.getKeptSizes(op.getDroppedDims()));
    if (!slice.isFolded && source == op.getSource() && dest == op.getDest() &&
        type == source.getType())
      return failure();
    if (!slice.fits(dest))
      return failure();
    source = castTo(rewriter, op.getLoc(), type, source);
    Value result = tensor::InsertSliceOp::create(rewriter, op.getLoc(), source,
                                                 dest, slice.offsets,
                                                 slice.sizes, slice.strides);
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getType(), result));
    return success();
  }
};

struct InferExpandShape : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasSparseType(op))
      return failure();
    SmallVector<OpFoldResult> extents = op.getMixedOutputShape();
    bool isFolded = foldExtents(extents);
    RankedTensorType type = withExtents(op.getResultType(), extents);
    SmallVector<int64_t> collapsed =
        getCollapsedShape(type.getShape(), op.getReassociationIndices());
    if (!isFolded && type == op.getResultType())
      return failure();
    Value source = skipCast(op.getSrc());
    source =
        castTo(rewriter, op.getLoc(), getType(source).clone(collapsed), source);
    Value result =
        tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type, source,
                                      op.getReassociationIndices(), extents);
    rewriter.replaceOp(
        op, castTo(rewriter, op.getLoc(), op.getResultType(), result));
    return success();
  }
};

struct InferCollapseShape : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    Value source = skipCast(op.getSrc());
    if (!hasSparseType(op) || source == op.getSrc())
      return failure();
    RankedTensorType type = op.getResultType().clone(getCollapsedShape(
        getType(source).getShape(), op.getReassociationIndices()));
    Value result = tensor::CollapseShapeOp::create(
        rewriter, op.getLoc(), type, source, op.getReassociationIndices());
    rewriter.replaceOp(
        op, castTo(rewriter, op.getLoc(), op.getResultType(), result));
    return success();
  }
};

struct InferPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasSparseType(op))
      return failure();
    SmallVector<OpFoldResult> low = op.getMixedLowPad();
    SmallVector<OpFoldResult> high = op.getMixedHighPad();
    bool isFolded = foldExtents(low);
    isFolded |= foldExtents(high);
    Value source = skipCast(op.getSource());
    SmallVector<int64_t> shape(op.getType().getShape());
    for (auto [dim, extent] : llvm::enumerate(getType(source).getShape())) {
      std::optional<int64_t> before = getConstantIntValue(low[dim]);
      std::optional<int64_t> behind = getConstantIntValue(high[dim]);
      // The run refuses others.
      if (before && behind && *before >= 0 && *behind >= 0 &&
          !ShapedType::isDynamic(extent))
        if (int64_t padded; !llvm::AddOverflow(extent, *before, padded) &&
                            !llvm::AddOverflow(padded, *behind, padded))
          shape[dim] = padded;
    }
    RankedTensorType type = op.getType().clone(shape);
    if (!isFolded && source == op.getSource() && type == op.getType())
      return failure();
    auto pad = tensor::PadOp::create(rewriter, op.getLoc(), type, source, low,
                                     high, op.getNofold());
    rewriter.inlineRegionBefore(op.getRegion(), pad.getRegion(),
                                pad.getRegion().end());
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), op.getType(), pad));
    return success();
  }
};

/// Upstream matches a tensor.concat of sparse tensors again and again.
/// sparse_tensor.concatenate takes its place where it can, of several inputs
/// with extents that are known; elsewhere the inputs are inserted one after the
/// other.
struct ConvertConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    // What is dense is refused later.
    if (!isSparse(op.getType()) ||
        !llvm::all_of(op->getOperandTypes(), isSparse))
      return failure();
    Location loc = op.getLoc();
    bool isStatic = op.getInputs().size() > 1 &&
                    llvm::all_of(op.getInputs(), [](Value input) {
                      return getType(input).hasStaticShape();
                    });
    Value result = isStatic
                       ? sparse_tensor::ConcatenateOp::create(
                             rewriter, loc, getStaticType(op), op.getInputs(),
                             rewriter.getIndexAttr(op.getDim()))
                             .getResult()
                       : insertAll(rewriter, op);
    rewriter.replaceOp(op, castTo(rewriter, loc, op.getType(), result));
    return success();
  }

private:
  static RankedTensorType getStaticType(tensor::ConcatOp op) {
    SmallVector<int64_t> shape(getType(op.getInputs().front()).getShape());
    shape[op.getDim()] = 0;
    for (Value input : op.getInputs())
      shape[op.getDim()] += getType(input).getDimSize(op.getDim());
    return op.getResultType().clone(shape);
  }

  static Value insertAll(PatternRewriter &rewriter, tensor::ConcatOp op) {
    Location loc = op.getLoc();
    int64_t along = op.getDim();
    // All inputs have the other extents of the first, or those that the type of
    // another one says: what is inserted is compared with them.
    SmallVector<OpFoldResult> extents =
        tensor::getMixedSizes(rewriter, loc, op.getInputs().front());
    for (Value input : op.getInputs())
      for (auto [dim, extent] : llvm::enumerate(getType(input).getShape()))
        if (isa<Value>(extents[dim]) && !ShapedType::isDynamic(extent))
          extents[dim] = rewriter.getIndexAttr(extent);
    SmallVector<OpFoldResult> offsets(extents.size(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(extents.size(), rewriter.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes;
    SmallVector<Value> begins = {
        arith::ConstantIndexOp::create(rewriter, loc, 0)};
    for (Value input : op.getInputs()) {
      sizes.push_back(tensor::getMixedSize(rewriter, loc, input, along));
      begins.push_back(arith::AddIOp::create(
          rewriter, loc, begins.back(),
          getValueOrCreateConstantIndexOp(rewriter, loc, sizes.back())));
    }
    auto getTypeOf = [&](Value input) {
      return getType(input).clone(decomposeMixedValues(extents).first);
    };
    extents[along] = begins.back();
    Value result = tensor::EmptyOp::create(rewriter, loc, extents,
                                           op.getResultType().getElementType(),
                                           op.getResultType().getEncoding());
    for (auto [input, begin, size] : llvm::zip(op.getInputs(), begins, sizes)) {
      offsets[along] = begin;
      extents[along] = size;
      result = tensor::InsertSliceOp::create(
          rewriter, loc, castTo(rewriter, loc, getTypeOf(input), input), result,
          offsets, extents, strides);
    }
    return result;
  }
};

} // namespace

void sparse_autograd::populateMoveCanonicalizationPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ConvertConcat, InferCollapseShape, InferExpandShape,
               InferExtractSlice, InferInsertSlice, InferPad>(
      patterns.getContext(), /*benefit=*/2);
}
