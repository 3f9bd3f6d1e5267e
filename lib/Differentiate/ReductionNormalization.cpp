//===- ReductionNormalization.cpp - reductions that have rules ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormalizationPatterns.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sparse_autograd;

/// The kind of reduction that a combiner other than addition is.
static std::optional<ReductionKind> getReductionKind(Operation *combiner) {
  return llvm::TypeSwitch<Operation *, std::optional<ReductionKind>>(combiner)
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [](auto) { return ReductionKind::Max; })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [](auto) { return ReductionKind::Min; })
      .Case([](arith::MulFOp) { return ReductionKind::Prod; })
      .Default([](Operation *) { return std::nullopt; });
}

namespace {

/// A scalar that goes through a tensor of rank 0, as a region of StableHLO
/// hands its arguments on.
struct UnpackScalar : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    auto packed = op.getTensor().getDefiningOp<tensor::FromElementsOp>();
    if (!packed || !op.getIndices().empty())
      return failure();
    rewriter.replaceOp(op, packed.getElements().front());
    return success();
  }
};

/// A dimension of extent 1 that a map gives the index 0, as that of a reduction
/// that keeps its dimensions, goes: the map is a projected permutation then.
struct DropUnitDims : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() ||
        llvm::none_of(op->getOpOperands(), [&](OpOperand &operand) {
          return hasConstantUnitDim(op, operand);
        }))
      return failure();
    FailureOr<linalg::DropUnitDimsResult> dropped =
        linalg::dropUnitDims(rewriter, op, linalg::ControlDropUnitDims());
    if (failed(dropped))
      return failure();
    rewriter.replaceOp(op, dropped->replacements);
    return success();
  }

private:
  static bool hasConstantUnitDim(linalg::GenericOp op, OpOperand &operand) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return false;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    return llvm::any_of(llvm::zip_equal(map.getResults(), type.getShape()),
                        [](auto pair) {
                          auto [expr, extent] = pair;
                          return isa<AffineConstantExpr>(expr) && extent == 1;
                        });
  }
};

/// A reduction that computes something besides, as a max that also tells where
/// it is, is two: what reduces by max, min or mul stands alone.
struct SeparateReduction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInits() < 2 ||
        op.getNumReductionLoops() == 0)
      return failure();
    bool changed = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      OpResult result = op.getTiedOpResult(&init);
      SetVector<Operation *> slice;
      if (result.use_empty() || !findSlice(op, init, slice))
        continue;
      rewriter.replaceAllUsesWith(result, separate(op, init, slice, rewriter));
      changed = true;
    }
    return success(changed);
  }

private:
  /// Finds what the running value of `init` is computed with, if a combiner of
  /// masked_reduce does it and no other running value is read.
  static bool findSlice(linalg::GenericOp op, OpOperand &init,
                        SetVector<Operation *> &slice) {
    Operation *combiner =
        op.getMatchingYieldValue(&init)->get().getDefiningOp();
    if (!combiner || !getReductionKind(combiner))
      return false;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitUsesFromAbove = false;
    options.filter = [&](Operation *inner) {
      return inner->getBlock() == op.getBody();
    };
    if (failed(getBackwardSlice(combiner, &slice, options)))
      return false;
    return llvm::all_of(slice, [&](Operation *inner) {
      return llvm::all_of(getReadValues(inner), [&](Value value) {
        auto argument = dyn_cast<BlockArgument>(value);
        return !argument || argument.getOwner() != op.getBody() ||
               argument.getArgNumber() < op.getNumDpsInputs() ||
               argument == op.getMatchingBlockArgument(&init);
      });
    });
  }

  static Value separate(linalg::GenericOp op, OpOperand &init,
                        const SetVector<Operation *> &slice,
                        PatternRewriter &rewriter) {
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(input));
    maps.push_back(op.getMatchingIndexingMap(&init));
    auto alone = linalg::GenericOp::create(
        rewriter, op.getLoc(), init.get().getType(), op.getInputs(), init.get(),
        maps, op.getIteratorTypesArray(),
        [&](OpBuilder &builder, Location loc, ValueRange args) {
          IRMapping mapping;
          mapping.map(ValueRange(op.getRegionInputArgs()), args.drop_back());
          mapping.map(op.getMatchingBlockArgument(&init), args.back());
          for (Operation *inner : slice)
            builder.clone(*inner, mapping);
          linalg::YieldOp::create(
              builder, loc,
              mapping.lookup(op.getMatchingYieldValue(&init)->get()));
        });
    return alone.getResult(0);
  }
};

/// A linalg.generic that reduces by max, min or mul is an elementwise op
/// (what is reduced), a masked_reduce and the combination with the init.
struct SplitReduction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
        op.getNumReductionLoops() == 0)
      return failure();
    BlockArgument accumulator = op.getRegionOutputArgs().front();
    auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
    Operation *combiner = yield.getOperand(0).getDefiningOp();
    if (!combiner || combiner->getNumOperands() != 2 ||
        !accumulator.hasOneUse() || *accumulator.getUsers().begin() != combiner)
      return failure();
    std::optional<ReductionKind> kind = getReductionKind(combiner);
    AffineMap outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!kind || !outMap.isProjectedPermutation())
      return failure();
    Value reduced = combiner->getOperand(0) == accumulator
                        ? combiner->getOperand(1)
                        : combiner->getOperand(0);

    // The elementwise part, over the whole iteration space, in the order of
    // the result's dimensions followed by the reduced ones.
    Location loc = op.getLoc();
    SmallVector<Range> ranges =
        cast<linalg::LinalgOp>(*op).createLoopRanges(rewriter, loc);
    SmallVector<AffineExpr> order(outMap.getResults());
    SmallVector<int64_t> dims;
    SmallVector<OpFoldResult> shape;
    for (AffineExpr expr : order)
      shape.push_back(ranges[cast<AffineDimExpr>(expr).getPosition()].size);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (!linalg::isReductionIterator(op.getIteratorTypesArray()[loop]))
        continue;
      dims.push_back(order.size());
      order.push_back(rewriter.getAffineDimExpr(loop));
      shape.push_back(ranges[loop].size);
    }
    Value init = op.getDpsInits().front();
    Type elementType = getElementTypeOrSelf(init.getType());
    Value empty = tensor::EmptyOp::create(rewriter, loc, shape, elementType);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.back() =
        AffineMap::get(op.getNumLoops(), 0, order, rewriter.getContext());
    SmallVector<utils::IteratorType> iterators(op.getNumLoops(),
                                               utils::IteratorType::parallel);
    auto elementwise = linalg::GenericOp::create(
        rewriter, loc, empty.getType(), op.getInputs(), empty, maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange args) {
          IRMapping mapping;
          mapping.map(op.getBody()->getArguments(), args);
          for (Operation &inner : op.getBody()->without_terminator())
            if (&inner != combiner)
              builder.clone(inner, mapping);
          linalg::YieldOp::create(builder, loc,
                                  mapping.lookupOrDefault(reduced));
        });
    Value values = elementwise.getResult(0), numbers;
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner))
      numbers = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::ORD,
                                      values, values);
    auto reduction =
        MaskedReduceOp::create(rewriter, loc, *kind, values, numbers, dims);
    auto castTo = [&](Type type, Value value) -> Value {
      if (value.getType() == type)
        return value;
      return tensor::CastOp::create(rewriter, loc, type, value);
    };
    Value result = castTo(init.getType(), reduction);
    Operation *combined = rewriter.clone(*combiner);
    combined->setOperands({init, result});
    combined->getResult(0).setType(init.getType());
    result = combined->getResult(0);
    // Where nothing is a number, the init stays what it is, a NaN included.
    if (numbers) {
      Value any = castTo(
          cast<RankedTensorType>(init.getType()).clone(rewriter.getI1Type()),
          createAny(rewriter, loc, numbers, dims));
      result = arith::SelectOp::create(rewriter, loc, any, result, init);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void sparse_autograd::populateReductionNormalizationPatterns(
    RewritePatternSet &patterns) {
  patterns.add<UnpackScalar, DropUnitDims, SeparateReduction, SplitReduction>(
      patterns.getContext());
}
