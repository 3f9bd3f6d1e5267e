//===- HoistInvariants.cpp - compute what a loop repeats once -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/HoistInvariants.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
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

namespace {
/// A value of a region that varies with some of the loops alone.
struct Invariant {
  Operation *op;
  /// What it is computed by, `op` last.
  llvm::SetVector<Operation *> slice;
  /// The operands of the generic that the slice reads.
  SmallVector<OpOperand *> operands;
  /// The place of a value in a tensor of them, in the loops of the generic.
  AffineMap places;
};
} // namespace

/// The computation of `op` in the body of `generic`.
static FailureOr<Invariant> getInvariant(linalg::GenericOp generic,
                                         Operation *op) {
  Invariant invariant{op, {}, {}, {}};
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *inner) {
    return inner->getBlock() == generic.getBody();
  };
  if (failed(getBackwardSlice(op, &invariant.slice, options)))
    return failure();
  for (OpOperand *input : generic.getDpsInputOperands())
    if (llvm::any_of(
            generic.getMatchingBlockArgument(input).getUsers(),
            [&](Operation *user) { return invariant.slice.contains(user); }))
      invariant.operands.push_back(input);
  return invariant;
}

/// Where the values of `invariant`, one for each iteration of `loops`, are in a
/// tensor: at the places of a dense operand that they are computed from, so
/// that they take no more memory. Null if there is none, or if a sparse operand
/// is among them: what it stores is less than its extents say.
static AffineMap getPlaces(const Invariant &invariant,
                           const llvm::SmallBitVector &loops) {
  auto generic = cast<linalg::GenericOp>(invariant.op->getParentOp());
  AffineMap places;
  for (OpOperand *operand : invariant.operands) {
    if (isSparse(operand->get().getType()))
      return {};
    AffineMap map = generic.getMatchingIndexingMap(operand);
    if (!places && map.getNumResults() == loops.count())
      places = map;
  }
  return places;
}

/// The first value of the body that varies with some of the loops alone, that
/// an op reads which varies with others, and that may be a tensor.
static std::optional<Invariant>
findInvariant(linalg::GenericOp op, const LoopDependence &dependence) {
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getNumResults() != 1 || getArithmeticCost(inner) == 0)
      continue;
    llvm::SmallBitVector loops = dependence.get(inner.getResult(0));
    // What varies with none and reads no operand is a matter of constants.
    if (loops.all() || llvm::none_of(inner.getOperands(), [&](Value operand) {
          return operand.getParentBlock() == op.getBody();
        }))
      continue;
    if (llvm::none_of(inner.getUsers(), [&](Operation *user) {
          return user->hasTrait<OpTrait::IsTerminator>() ||
                 dependence.get(user->getResult(0)) != loops;
        }))
      continue;
    FailureOr<Invariant> invariant = getInvariant(op, &inner);
    if (succeeded(invariant) &&
        (invariant->places = getPlaces(*invariant, loops)))
      return *invariant;
  }
  return std::nullopt;
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
    std::optional<Invariant> invariant = findInvariant(op, dependence);
    if (!invariant)
      return failure();

    // The loops of the new op, in the order of the operand that is as large.
    Value value = invariant->op->getResult(0);
    ArrayRef<AffineExpr> kept = invariant->places.getResults();
    SmallVector<AffineExpr> positions(op.getNumLoops(),
                                      rewriter.getAffineConstantExpr(0));
    for (auto [number, loop] : llvm::enumerate(kept))
      positions[cast<AffineDimExpr>(loop).getPosition()] =
          rewriter.getAffineDimExpr(number);
    SmallVector<Value> inputs, arguments;
    SmallVector<AffineMap> maps;
    SmallVector<OpFoldResult> extents(kept.size());
    for (OpOperand *input : invariant->operands) {
      AffineMap map = op.getMatchingIndexingMap(input);
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        auto at = cast<AffineDimExpr>(
            positions[cast<AffineDimExpr>(expr).getPosition()]);
        extents[at.getPosition()] =
            tensor::getMixedSize(rewriter, op.getLoc(), input->get(), dim);
      }
      inputs.push_back(input->get());
      arguments.push_back(op.getMatchingBlockArgument(input));
      maps.push_back(map.replaceDimsAndSymbols(positions, {}, kept.size(), 0));
    }
    maps.push_back(rewriter.getMultiDimIdentityMap(kept.size()));
    Type elementType = value.getType();
    Value init =
        tensor::EmptyOp::create(rewriter, op.getLoc(), extents, elementType);
    SmallVector<utils::IteratorType> iterators(kept.size(),
                                               utils::IteratorType::parallel);
    auto hoisted = linalg::GenericOp::create(
        rewriter, invariant->op->getLoc(), init.getType(), inputs, init, maps,
        iterators, [&](OpBuilder &builder, Location loc, ValueRange elements) {
          IRMapping mapping;
          mapping.map(arguments, elements.drop_back());
          for (Operation &inner : *op.getBody())
            if (invariant->slice.contains(&inner))
              builder.clone(inner, mapping);
          linalg::YieldOp::create(builder, loc, mapping.lookup(value));
        });

    // The op again, with one input more.
    SmallVector<Value> allInputs(op.getInputs());
    allInputs.push_back(hoisted.getResult(0));
    SmallVector<AffineMap> allMaps = op.getIndexingMapsArray();
    allMaps.insert(allMaps.begin() + op.getNumDpsInputs(), invariant->places);
    auto replacement = linalg::GenericOp::create(
        rewriter, op.getLoc(), op.getResultTypes(), allInputs, op.getOutputs(),
        allMaps, op.getIteratorTypesArray());
    Block *body = op.getBody();
    BlockArgument element = body->insertArgument(
        static_cast<unsigned>(op.getNumDpsInputs()), elementType, op.getLoc());
    rewriter.replaceAllUsesWith(value, element);
    rewriter.eraseOp(invariant->op);
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
