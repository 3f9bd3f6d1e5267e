//===- HoistInvariants.cpp - compute what a loop repeats once -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/HoistInvariants.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// The loops of a generic that the values in its region vary with.
class LoopDependence {
public:
  explicit LoopDependence(linalg::GenericOp op) : numLoops(op.getNumLoops()) {
    for (OpOperand &operand : op->getOpOperands())
      loops[op.getMatchingBlockArgument(&operand)] =
          op.isDpsInput(&operand) ? loopsOf(op.getMatchingIndexingMap(&operand))
                                  : llvm::SmallBitVector(numLoops, true);
    for (Operation &inner : op.getBody()->without_terminator()) {
      llvm::SmallBitVector found(numLoops);
      if (inner.getNumRegions() != 0 || !isPure(&inner) ||
          isa<linalg::IndexOp>(inner))
        found.set();
      for (Value operand : inner.getOperands())
        found |= get(operand);
      for (Value result : inner.getResults())
        loops[result] = found;
    }
  }

  /// Of a value from outside of the region, none.
  llvm::SmallBitVector get(Value value) const {
    auto known = loops.find(value);
    return known == loops.end() ? llvm::SmallBitVector(numLoops)
                                : known->second;
  }

private:
  /// All of them where a position is not that of one loop.
  llvm::SmallBitVector loopsOf(AffineMap map) const {
    llvm::SmallBitVector found(numLoops, !map.isProjectedPermutation());
    if (map.isProjectedPermutation())
      for (AffineExpr result : map.getResults())
        found.set(cast<AffineDimExpr>(result).getPosition());
    return found;
  }

  unsigned numLoops;
  llvm::DenseMap<Value, llvm::SmallBitVector> loops;
};

} // namespace

/// An op that varies with some of the loops alone, and that one which varies
/// with others reads; null if there is none.
static Operation *findInvariant(linalg::GenericOp op,
                                const LoopDependence &dependence) {
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getNumResults() != 1 || getArithmeticCost(inner) == 0)
      continue;
    llvm::SmallBitVector loops = dependence.get(inner.getResult(0));
    // What varies with none and reads no operand is a matter of constants.
    if (loops.all() || llvm::none_of(inner.getOperands(), [&](Value operand) {
          return operand.getParentBlock() == op.getBody();
        }))
      continue;
    for (Operation *user : inner.getUsers())
      if (user->hasTrait<OpTrait::IsTerminator>() ||
          dependence.get(user->getResult(0)) != loops)
        return &inner;
  }
  return nullptr;
}

namespace {

struct HoistInvariant : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0)
      return failure();
    // Most ops range over all of their loops in all of their operands.
    if (llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
          return map.getNumResults() >= map.getNumDims();
        }))
      return failure();
    LoopDependence dependence(op);
    Operation *invariant = findInvariant(op, dependence);
    if (!invariant)
      return failure();

    // The loops of the new op, in their order.
    llvm::SmallBitVector loops = dependence.get(invariant->getResult(0));
    MLIRContext *context = rewriter.getContext();
    SmallVector<AffineExpr> positions(op.getNumLoops(),
                                      rewriter.getAffineConstantExpr(0));
    SmallVector<AffineExpr> kept;
    for (unsigned loop : loops.set_bits()) {
      positions[loop] = rewriter.getAffineDimExpr(kept.size());
      kept.push_back(rewriter.getAffineDimExpr(loop));
    }
    llvm::SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.filter = [&](Operation *inner) {
      return inner->getBlock() == op.getBody();
    };
    if (failed(getBackwardSlice(invariant, &slice, options)))
      return failure();

    SmallVector<Value> inputs, arguments;
    SmallVector<AffineMap> maps;
    SmallVector<OpFoldResult> extents(kept.size());
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (llvm::none_of(argument.getUsers(),
                        [&](Operation *user) { return slice.contains(user); }))
        continue;
      AffineMap map = op.getMatchingIndexingMap(input);
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        auto at = cast<AffineDimExpr>(
            positions[cast<AffineDimExpr>(expr).getPosition()]);
        extents[at.getPosition()] =
            tensor::getMixedSize(rewriter, op.getLoc(), input->get(), dim);
      }
      inputs.push_back(input->get());
      arguments.push_back(argument);
      maps.push_back(map.replaceDimsAndSymbols(positions, {}, kept.size(), 0));
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(kept.size()));
    Type elementType = invariant->getResult(0).getType();
    Value init =
        tensor::EmptyOp::create(rewriter, op.getLoc(), extents, elementType);
    SmallVector<utils::IteratorType> iterators(kept.size(),
                                               utils::IteratorType::parallel);
    auto hoisted = linalg::GenericOp::create(
        rewriter, invariant->getLoc(), init.getType(), inputs, init, maps,
        iterators, [&](OpBuilder &builder, Location loc, ValueRange elements) {
          IRMapping mapping;
          mapping.map(arguments, elements.drop_back());
          for (Operation &inner : *op.getBody())
            if (slice.contains(&inner))
              builder.clone(inner, mapping);
          linalg::YieldOp::create(builder, loc,
                                  mapping.lookup(invariant->getResult(0)));
        });

    // The op again, with one input more.
    SmallVector<Value> allInputs(op.getInputs());
    allInputs.push_back(hoisted.getResult(0));
    SmallVector<AffineMap> allMaps = op.getIndexingMapsArray();
    allMaps.insert(allMaps.begin() + op.getNumDpsInputs(),
                   AffineMap::get(op.getNumLoops(), 0, kept, context));
    auto replacement = linalg::GenericOp::create(
        rewriter, op.getLoc(), op.getResultTypes(), allInputs, op.getOutputs(),
        allMaps, op.getIteratorTypesArray());
    Block *body = op.getBody();
    BlockArgument element = body->insertArgument(
        static_cast<unsigned>(op.getNumDpsInputs()), elementType, op.getLoc());
    rewriter.replaceAllUsesWith(invariant->getResult(0), element);
    rewriter.eraseOp(invariant);
    rewriter.inlineRegionBefore(op.getRegion(), replacement.getRegion(),
                                replacement.getRegion().begin());
    rewriter.replaceOp(op, replacement.getResults());
    return success();
  }
};

} // namespace

void sparse_autograd::populateHoistInvariantsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<HoistInvariant>(patterns.getContext());
}
