//===- SparseAutogradFolds.cpp - folders and canonicalization -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace sparse_autograd;

/// The value of a mask that is the same everywhere; nothing for another mask.
static std::optional<bool> getSplatMask(Value mask) {
  DenseElementsAttr elements;
  if (!mask || !matchPattern(mask, m_Constant(&elements)) ||
      !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<bool>();
}

namespace {

/// A mask that is true everywhere selects everything.
template <typename OpTy>
struct RemoveAllTrueMask : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (getSplatMask(op.getMaskOperand()) != true)
      return failure();
    bool removed = false;
    rewriter.modifyOpInPlace(op, [&] { removed = op.removeMask(); });
    return success(removed);
  }
};

/// grad_mask(grad_mask(x, m), m) selects by the same mask twice.
struct MergeEqualGradMasks : OpRewritePattern<GradMaskOp> {
  using OpRewritePattern<GradMaskOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(GradMaskOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<GradMaskOp>();
    if (!inner || inner.getMask() != op.getMask() ||
        inner.getMaskDimensions() != op.getMaskDimensions())
      return failure();
    rewriter.replaceOp(op, inner);
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// MaskedReduceOp, MaskedSoftmaxOp, MaskedLogSoftmaxOp
//===----------------------------------------------------------------------===//

/// The value that every slice has when nothing is selected.
static FloatAttr getEmptyValue(MaskedReduceOp op) {
  auto type = cast<FloatType>(op.getType().getElementType());
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  switch (op.getKind()) {
  case ReductionKind::Mean:
    if (op.getEmpty() == EmptyValue::NaN)
      return FloatAttr::get(type, llvm::APFloat::getNaN(semantics));
    break;
  case ReductionKind::Max:
  case ReductionKind::LogSumExp:
    return FloatAttr::get(type, llvm::APFloat::getInf(semantics, true));
  case ReductionKind::Min:
    return FloatAttr::get(type, llvm::APFloat::getInf(semantics));
  case ReductionKind::Prod:
    return FloatAttr::get(type, 1.0);
  case ReductionKind::Sum:
  case ReductionKind::Var:
  case ReductionKind::Std:
  case ReductionKind::Norm2:
    break;
  }
  return FloatAttr::get(type, 0.0);
}

OpFoldResult MaskedReduceOp::fold(FoldAdaptor) {
  // Along no dimension, and over everything, a sum is its input.
  if (getDims().empty() && !getMask() && getType() == getInput().getType()) {
    switch (getKind()) {
    case ReductionKind::Sum:
    case ReductionKind::Mean:
    case ReductionKind::Max:
    case ReductionKind::Min:
    case ReductionKind::Prod:
    case ReductionKind::LogSumExp:
      return getInput();
    case ReductionKind::Var:
    case ReductionKind::Std:
    case ReductionKind::Norm2:
      break;
    }
  }
  // Over nothing, a reduction has its stated value everywhere.
  if (getSplatMask(getMask()) == false && getType().hasStaticShape())
    return DenseElementsAttr::get(getType(), getEmptyValue(*this));
  return {};
}

void MaskedReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                 MLIRContext *context) {
  patterns.add<RemoveAllTrueMask<MaskedReduceOp>>(context);
}

/// A softmax over nothing is 0 everywhere.
template <typename OpTy>
static OpFoldResult foldEmptySoftmax(OpTy op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (getSplatMask(op.getMask()) != false || !type.hasStaticShape())
    return {};
  return DenseElementsAttr::get(type,
                                FloatAttr::get(type.getElementType(), 0.0));
}

OpFoldResult MaskedSoftmaxOp::fold(FoldAdaptor) {
  return foldEmptySoftmax(*this);
}

void MaskedSoftmaxOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<RemoveAllTrueMask<MaskedSoftmaxOp>>(context);
}

OpFoldResult MaskedLogSoftmaxOp::fold(FoldAdaptor) {
  return foldEmptySoftmax(*this);
}

void MaskedLogSoftmaxOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<RemoveAllTrueMask<MaskedLogSoftmaxOp>>(context);
}

//===----------------------------------------------------------------------===//
// GradMaskOp, StopGradientOp
//===----------------------------------------------------------------------===//

OpFoldResult GradMaskOp::fold(FoldAdaptor) {
  // An identity forward; a mask that is true everywhere is one backward too.
  if (getSplatMask(getMask()) == true)
    return getInput();
  return {};
}

void GradMaskOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<MergeEqualGradMasks>(context);
}

OpFoldResult StopGradientOp::fold(FoldAdaptor adaptor) {
  // A constant has no gradient to stop, nor has a stopped value.
  if (adaptor.getInput())
    return adaptor.getInput();
  if (getInput().getDefiningOp<StopGradientOp>())
    return getInput();
  return {};
}
