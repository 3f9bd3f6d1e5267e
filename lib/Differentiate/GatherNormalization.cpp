//===- GatherNormalization.cpp - reads at computed positions --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormalizationPatterns.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether `op` does nothing but extract: then it has a rule.
static bool isGather(linalg::GenericOp op, tensor::ExtractOp extract) {
  return op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
         op.getBody()->getTerminator()->getOperand(0) == extract.getResult() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

namespace {

/// A tensor of computed elements is a linalg.generic without inputs.
struct GenerateToGeneric : OpRewritePattern<tensor::GenerateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::GenerateOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!isDifferentiableType(type))
      return failure();
    Location loc = op.getLoc();
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, type, op.getDynamicExtents());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, type, ValueRange(), empty,
        rewriter.getMultiDimIdentityMap(type.getRank()), iterators,
        [&](OpBuilder &builder, Location loc, ValueRange) {
          IRMapping mapping;
          for (auto [dim, argument] :
               llvm::enumerate(op.getBody().getArguments()))
            mapping.map(argument, linalg::IndexOp::create(builder, loc, dim));
          Block &body = op.getBody().front();
          for (Operation &inner : body.without_terminator())
            builder.clone(inner, mapping);
          auto yield = cast<tensor::YieldOp>(body.getTerminator());
          linalg::YieldOp::create(builder, loc,
                                  mapping.lookupOrDefault(yield.getValue()));
        });
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }
};

/// Moves one tensor.extract of floats out of a linalg.generic.
struct HoistExtract : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    tensor::ExtractOp extract;
    llvm::SetVector<Operation *> slice;
    for (auto candidate : op.getBody()->getOps<tensor::ExtractOp>()) {
      if (!isDifferentiableType(candidate.getTensor().getType()) ||
          !candidate.getTensor().getParentRegion()->isProperAncestor(
              &op.getRegion()) ||
          isGather(op, candidate))
        continue;
      // The position must not depend on what the loops accumulate.
      slice = getPosition(op, candidate);
      if (llvm::any_of(
              slice,
              [&](Operation *inner) { return readsOutputs(op, inner); }) ||
          readsOutputs(op, candidate))
        continue;
      extract = candidate;
      break;
    }
    if (!extract)
      return failure();

    Location loc = extract.getLoc();
    SmallVector<OpFoldResult> extents = llvm::map_to_vector(
        cast<linalg::LinalgOp>(*op).createLoopRanges(rewriter, loc),
        [](const Range &range) { return range.size; });
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, extents, extract.getType());
    // Only what the position depends on is read.
    SmallVector<Value> read;
    SmallVector<BlockArgument> readArguments;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (llvm::none_of(argument.getUsers(), [&](Operation *user) {
            Operation *inner = op.getBody()->findAncestorOpInBlock(*user);
            return inner == extract || slice.contains(inner);
          }))
        continue;
      read.push_back(input->get());
      readArguments.push_back(argument);
      maps.push_back(op.getMatchingIndexingMap(input));
    }
    AffineMap identity = rewriter.getMultiDimIdentityMap(op.getNumLoops());
    maps.push_back(identity);
    SmallVector<utils::IteratorType> iterators(op.getNumLoops(),
                                               utils::IteratorType::parallel);
    auto gathered = linalg::GenericOp::create(
        rewriter, loc, empty.getType(), read, empty, maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          IRMapping mapping;
          for (auto [from, to] : llvm::zip(readArguments, arguments))
            mapping.map(Value(from), to);
          for (Operation &inner : *op.getBody())
            if (slice.contains(&inner))
              builder.clone(inner, mapping);
          Operation *element = builder.clone(*extract, mapping);
          linalg::YieldOp::create(builder, loc, element->getResults());
        });

    SmallVector<Value> inputs(op.getInputs());
    inputs.push_back(gathered.getResult(0));
    maps = op.getIndexingMapsArray();
    maps.insert(maps.begin() + op.getNumDpsInputs(), identity);
    auto replacement = linalg::GenericOp::create(
        rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getOutputs(),
        maps, op.getIteratorTypesArray(),
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          IRMapping mapping;
          unsigned numInputs = op.getNumDpsInputs();
          for (auto [index, argument] :
               llvm::enumerate(op.getBody()->getArguments()))
            mapping.map(Value(argument),
                        arguments[index < numInputs ? index : index + 1]);
          mapping.map(extract.getResult(), arguments[numInputs]);
          for (Operation &inner : *op.getBody())
            if (&inner != extract)
              builder.clone(inner, mapping);
        });
    rewriter.replaceOp(op, replacement.getResults());
    return success();
  }

private:
  /// The ops of the region that the position of `extract` depends on.
  static llvm::SetVector<Operation *> getPosition(linalg::GenericOp op,
                                                  tensor::ExtractOp extract) {
    llvm::SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.omitUsesFromAbove = false;
    options.filter = [&](Operation *inner) {
      return op.getRegion().isAncestor(inner->getParentRegion());
    };
    (void)getBackwardSlice(extract.getOperation(), &slice, options);
    return slice;
  }

  static bool readsOutputs(linalg::GenericOp op, Operation *inner) {
    WalkResult result = inner->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (llvm::is_contained(op.getRegionOutputArgs(), operand))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return result.wasInterrupted();
  }
};

} // namespace

void sparse_autograd::populateGatherNormalizationPatterns(
    RewritePatternSet &patterns) {
  patterns.add<GenerateToGeneric, HoistExtract>(patterns.getContext());
}
