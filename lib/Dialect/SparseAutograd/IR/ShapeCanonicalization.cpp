//===- ShapeCanonicalization.cpp - extents of sparse operands -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured op whose operands are known to have some extents says so of all
// of them, and an empty tensor that is cast is one of the other type. Upstream
// does so too, but drops the encodings of sparse tensors, so that the IR is
// invalid (InferStaticShapeOfOperands, FoldEmptyTensorWithCastOp; LLVM 22.1).
// It also takes a sparse transpose of a transpose for the operand, of whichever
// encoding that is: as a generic op it is out of its reach.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct InferExtents : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() ||
        llvm::none_of(op->getOperandTypes(), isSparse))
      return failure();
    SmallVector<int64_t> extents = getExtents(op);
    SmallVector<Value> operands;
    bool changes = false;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      RankedTensorType type =
          refine(op.getMatchingIndexingMap(&operand), value.getType(), extents);
      if (type && type != value.getType()) {
        value = tensor::CastOp::create(rewriter, op.getLoc(), type, value);
        changes = true;
      }
      operands.push_back(value);
    }
    if (!changes)
      return failure();
    SmallVector<Type> types;
    for (OpOperand &init : op.getDpsInitsMutable())
      types.push_back(operands[init.getOperandNumber()].getType());
    Operation *refined = clone(rewriter, op, types, operands);
    SmallVector<Value> results;
    for (auto [known, result] :
         llvm::zip_equal(refined->getResults(), op->getResults()))
      results.push_back(known.getType() == result.getType()
                            ? Value(known)
                            : tensor::CastOp::create(rewriter, op.getLoc(),
                                                     result.getType(), known));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// The extents of the loops, as far as types tell.
  static SmallVector<int64_t> getExtents(linalg::LinalgOp op) {
    SmallVector<int64_t> extents(op.getNumLoops(), ShapedType::kDynamic);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      SmallVector<int64_t> shape(type.getShape());
      if (auto cast = value.getDefiningOp<tensor::CastOp>())
        if (auto source =
                dyn_cast<RankedTensorType>(cast.getSource().getType()))
          for (auto [extent, known] : llvm::zip_equal(shape, source.getShape()))
            if (ShapedType::isDynamic(extent))
              extent = known;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [expr, extent] : llvm::zip_equal(map.getResults(), shape))
        if (auto dim = dyn_cast<AffineDimExpr>(expr);
            dim && !ShapedType::isDynamic(extent))
          extents[dim.getPosition()] = extent;
    }
    return extents;
  }

  /// `type` with the extents that are known; null if it is no tensor.
  static RankedTensorType refine(AffineMap map, Type type,
                                 ArrayRef<int64_t> extents) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return {};
    SmallVector<int64_t> shape(tensor.getShape());
    for (auto [expr, extent] : llvm::zip_equal(map.getResults(), shape))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && ShapedType::isDynamic(extent))
        extent = extents[dim.getPosition()];
    return cast<RankedTensorType>(tensor.clone(shape));
  }
};

struct CastEmpty : OpRewritePattern<tensor::CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CastOp op,
                                PatternRewriter &rewriter) const override {
    auto empty = op.getSource().getDefiningOp<tensor::EmptyOp>();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!empty || !type || !isSparse(type) ||
        type.getEncoding() != empty.getType().getEncoding())
      return failure();
    SmallVector<OpFoldResult> extents = empty.getMixedSizes();
    for (auto [dim, extent] : llvm::enumerate(extents)) {
      if (type.isDynamicDim(dim))
        continue;
      std::optional<int64_t> known = getConstantIntValue(extent);
      if (known && *known != type.getDimSize(dim))
        return failure();
      extent = rewriter.getIndexAttr(type.getDimSize(dim));
    }
    // Extents that were known stay so.
    for (auto [dim, extent] : llvm::enumerate(extents))
      if (type.isDynamicDim(dim) && isa<Attribute>(extent))
        return failure();
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(
        op, extents, type.getElementType(), type.getEncoding());
    return success();
  }
};

struct GeneralizeTranspose : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() ||
        llvm::none_of(op->getOperandTypes(), isSparse))
      return failure();
    return linalg::generalizeNamedOp(rewriter,
                                     cast<linalg::LinalgOp>(op.getOperation()));
  }
};
} // namespace

void sparse_autograd::populateShapeCanonicalizationPatterns(
    RewritePatternSet &patterns) {
  patterns.add<CastEmpty, GeneralizeTranspose, InferExtents>(
      patterns.getContext(), /*benefit=*/2);
}
