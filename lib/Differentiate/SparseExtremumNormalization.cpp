//===- SparseExtremumNormalization.cpp - maxima with absent zeros ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The maximum or minimum of a sparse tensor along some dimensions, of which an
// absent element is a zero (semantics G4), before it is differentiated: that of
// what is stored, and then whether a slice has elements that are not. A dense
// tensor of the shape of the operand, in which derivatives would count ties, is
// not made.
//
//===----------------------------------------------------------------------===//

#include "NormalizationPatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// How many elements `mask` selects along `dims`, as i64: a dense tensor over
/// the other dimensions.
static Value createCount(OpBuilder &builder, Location loc, Value mask,
                         ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(mask.getType());
  SmallVector<OpFoldResult> extents;
  SmallVector<AffineExpr> kept;
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::reduction);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (llvm::is_contained(dims, dim))
      continue;
    iterators[dim] = utils::IteratorType::parallel;
    kept.push_back(builder.getAffineDimExpr(dim));
    extents.push_back(tensor::getMixedSize(builder, loc, mask, dim));
  }
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value empty =
      tensor::EmptyOp::create(builder, loc, extents, builder.getI64Type());
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  AffineMap maps[] = {
      builder.getMultiDimIdentityMap(type.getRank()),
      AffineMap::get(type.getRank(), 0, kept, builder.getContext())};
  return linalg::GenericOp::create(
             builder, loc, init.getType(), mask, init, maps, iterators,
             [](OpBuilder &nested, Location loc, ValueRange args) {
               Value one = arith::ExtUIOp::create(nested, loc,
                                                  nested.getI64Type(), args[0]);
               Value sum = arith::AddIOp::create(nested, loc, args[1], one);
               linalg::YieldOp::create(nested, loc, sum);
             })
      .getResult(0);
}

/// The maximum or minimum of the sparse `input` along `dims`. For the extremum
/// m of the s elements that a slice of n stores, t of which are 0, it is
///   m          where n = s, or m is beyond 0, or a NaN;
///   m t / (t + n - s)  where m is 0;
///   0          elsewhere.
/// The second is 0 as well; its derivative says that the zeros share that are
/// stored and those that are not.
static Value createExtremum(OpBuilder &builder, Location loc,
                            ReductionKind kind, Value input,
                            ArrayRef<int64_t> dims) {
  Value pattern = PatternOp::create(builder, loc, input);
  Value stored =
      MaskedReduceOp::create(builder, loc, kind, input, pattern, dims);
  Value zeros = createElementwise(
      builder, loc, input, input, builder.getI1Type(),
      [](OpBuilder &nested, Location loc, ValueRange args) -> Value {
        Value zero = arith::ConstantOp::create(
            nested, loc, nested.getZeroAttr(args[0].getType()));
        return arith::CmpFOp::create(nested, loc, arith::CmpFPredicate::OEQ,
                                     args[0], zero);
      });
  Value size = arith::ConstantIndexOp::create(builder, loc, 1);
  for (int64_t dim : dims)
    size = arith::MulIOp::create(
        builder, loc, size, tensor::DimOp::create(builder, loc, input, dim));
  size = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size);
  bool isMax = kind == ReductionKind::Max;
  Type elementType = getElementTypeOrSelf(input.getType());
  return createElementwise(
      builder, loc,
      {stored, createCount(builder, loc, pattern, dims),
       createCount(builder, loc, zeros, dims)},
      stored, elementType,
      [&](OpBuilder &nested, Location loc, ValueRange args) -> Value {
        auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) {
          return arith::CmpFOp::create(nested, loc, predicate, a, b);
        };
        Value extremum = args[0];
        Value none =
            arith::ConstantOp::create(nested, loc, nested.getI64IntegerAttr(0));
        Value zero = arith::ConstantOp::create(nested, loc,
                                               nested.getZeroAttr(elementType));
        Value absent = arith::SubIOp::create(nested, loc, size, args[1]);
        Value isWhole = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::eq, absent, none);
        Value isBeyond = compare(isMax ? arith::CmpFPredicate::UGT
                                       : arith::CmpFPredicate::ULT,
                                 extremum, zero);
        Value isStored = arith::OrIOp::create(nested, loc, isWhole, isBeyond);
        // Where m is 0, t is not.
        Type wide = getAccumulationType(elementType);
        auto toFloat = [&](Value count) {
          return arith::SIToFPOp::create(nested, loc, wide, count);
        };
        Value all = arith::AddIOp::create(nested, loc, args[2], absent);
        Value share =
            arith::DivFOp::create(nested, loc, toFloat(args[2]), toFloat(all));
        Value shared = arith::MulFOp::create(
            nested, loc, createFloatCast(nested, loc, extremum, wide), share);
        shared = createFloatCast(nested, loc, shared, elementType);
        // An absent zero is +0, which is the maximum of both.
        if (isMax)
          shared = arith::AddFOp::create(nested, loc, shared, zero);
        Value isZero = compare(arith::CmpFPredicate::OEQ, extremum, zero);
        Value other =
            arith::SelectOp::create(nested, loc, isZero, shared, zero);
        return arith::SelectOp::create(nested, loc, isStored, extremum, other);
      });
}

namespace {

/// Of a linalg.generic that does nothing else.
struct SplitSparseExtremum : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
        op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
        op.getBody()->getOperations().size() != 2)
      return failure();
    Operation *combiner = &op.getBody()->front();
    if (!isa<arith::MaximumFOp, arith::MinimumFOp>(combiner) ||
        op.getBody()->getTerminator()->getOperand(0) != combiner->getResult(0))
      return failure();
    // Each argument once, in either order.
    for (BlockArgument argument : op.getBody()->getArguments())
      if (!argument.hasOneUse())
        return failure();
    OpOperand *input = op.getDpsInputOperand(0),
              *init = op.getDpsInitOperand(0);
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!isSparse(input->get().getType()) || !map.isPermutation())
      return failure();
    // The dimensions that stay, in the order of the operand.
    SmallVector<int64_t> dims;
    SmallVector<AffineExpr> kept;
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (linalg::isReductionIterator(
              op.getIteratorTypesArray()[cast<AffineDimExpr>(expr)
                                             .getPosition()]))
        dims.push_back(dim);
      else
        kept.push_back(expr);
    if (!llvm::equal(kept, op.getMatchingIndexingMap(init).getResults()))
      return failure();
    Location loc = op.getLoc();
    ReductionKind kind = isa<arith::MaximumFOp>(combiner) ? ReductionKind::Max
                                                          : ReductionKind::Min;
    Value extremum =
        castTo(rewriter, loc, init->get().getType(),
               createExtremum(rewriter, loc, kind, input->get(), dims));
    Operation *combined = rewriter.clone(*combiner);
    combined->setOperands({init->get(), extremum});
    combined->getResult(0).setType(init->get().getType());
    rewriter.replaceOp(op, combined);
    return success();
  }
};

/// Of a masked_reduce without a mask.
struct ReplaceSparseExtremum : OpRewritePattern<MaskedReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaskedReduceOp op,
                                PatternRewriter &rewriter) const override {
    bool isExtremum = op.getKind() == ReductionKind::Max ||
                      op.getKind() == ReductionKind::Min;
    // The first of equal elements may be absent.
    if (!isExtremum || op.getMask() || op.getKeepdims() ||
        op.getTies() == Ties::First || op.getEmpty() != EmptyValue::Default ||
        !isSparse(op.getInput().getType()) || isSparse(op.getType()))
      return failure();
    Value extremum = createExtremum(rewriter, op.getLoc(), op.getKind(),
                                    op.getInput(), op.getDims());
    rewriter.replaceOp(op,
                       castTo(rewriter, op.getLoc(), op.getType(), extremum));
    return success();
  }
};

} // namespace

void sparse_autograd::populateSparseExtremumNormalizationPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ReplaceSparseExtremum, SplitSparseExtremum>(
      patterns.getContext(), /*benefit=*/2);
}
