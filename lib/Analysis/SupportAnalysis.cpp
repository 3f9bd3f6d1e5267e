//===- SupportAnalysis.cpp - where values may differ from zero ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/SupportAnalysis.h"
#include "SparseAutograd/Analysis/ScalarTerms.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

/// A union of more sets says little, and bounds are to be read.
static constexpr unsigned maxSets = 4;

void ValueSupport::join(const ValueSupport &other) {
  isEverywhere |= other.isEverywhere;
  for (const ElementSet &set : other.sets)
    if (!llvm::is_contained(sets, set))
      sets.push_back(set);
  if (isEverywhere || sets.size() > maxSets)
    *this = everywhere();
}

/// The support of a value that is zero outside of the region that computes it:
/// sets that are known there only say nothing, for each iteration has its own.
static ValueSupport leaveRegion(ValueSupport support, Operation *owner) {
  for (ElementSet set : support.sets)
    if (owner->isAncestor(set.source.getParentBlock()->getParentOp()))
      return ValueSupport::everywhere();
  return support;
}

static AffineMap getIdentity(Value value) {
  return AffineMap::getMultiDimIdentityMap(
      cast<RankedTensorType>(value.getType()).getRank(), value.getContext());
}

static bool isZeroConstant(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

/// Moves the sets of an operand to the loops of its op.
static ValueSupport toLoops(const ValueSupport &support, AffineMap map) {
  if (support.isEverywhere || support.isNowhere())
    return support;
  if (!map.isProjectedPermutation())
    return ValueSupport::everywhere();
  ValueSupport moved;
  for (const ElementSet &set : support.sets)
    moved.sets.push_back({set.source, set.map.compose(map)});
  return moved;
}

/// Moves sets of loops to the dimensions of a result, by its map, a projected
/// permutation. Of a set that depends on a loop which the result does not range
/// over nothing is left to say.
static ValueSupport toResult(const ValueSupport &support, AffineMap map) {
  if (support.isEverywhere || support.isNowhere())
    return support;
  ValueSupport moved;
  for (const ElementSet &set : support.sets) {
    SmallVector<AffineExpr> dims;
    for (AffineExpr expr : set.map.getResults()) {
      std::optional<unsigned> position = map.getResultPosition(expr);
      if (!position)
        return ValueSupport::everywhere();
      dims.push_back(getAffineDimExpr(*position, map.getContext()));
    }
    moved.sets.push_back({set.source, AffineMap::get(map.getNumResults(), 0,
                                                     dims, map.getContext())});
  }
  return moved;
}

/// Whether `a` says at least as much as `b`.
static bool isTighter(const ValueSupport &a, const ValueSupport &b) {
  auto key = [](const ValueSupport &support) {
    // Few sets over many dimensions are best.
    unsigned dims = ~0u;
    for (const ElementSet &set : support.sets)
      dims = std::min(dims, set.map.getNumResults());
    return std::make_tuple(support.isEverywhere, support.sets.size(), ~dims);
  };
  return key(a) < key(b);
}

ValueSupport SupportAnalysis::ofStructured(linalg::LinalgOp op,
                                           OpResult result) {
  unsigned number = result.getResultNumber();
  OpOperand *init = op.getDpsInitOperand(number);
  AffineMap resultMap = op.getMatchingIndexingMap(init);
  ScalarTerms terms(op);
  // Whether nothing is left of the op where these operands are zero: of a sum
  // what it starts from, of an element a zero. What is zero in a dense tensor
  // is a number; what is not stored, or not selected, annihilates.
  auto isNeutral = [&](ArrayRef<unsigned> inputs) {
    llvm::SmallBitVector absent(op->getNumOperands());
    llvm::SmallBitVector zero(op->getNumOperands());
    for (unsigned input : inputs) {
      Type type = op->getOperand(input).getType();
      bool isNumber =
          !isSparse(type) && !getElementTypeOrSelf(type).isInteger(1);
      (isNumber ? zero : absent).set(input);
    }
    const Term *yielded = terms.getYields(absent, zero)[number];
    return ScalarTerms::isZero(yielded) ||
           terms.isArgument(yielded, init->getOperandNumber());
  };
  bool startsFromInit = op.payloadUsesValueFromOperand(init);
  // Elements that no iteration reaches keep what the destination held.
  if (!resultMap.isProjectedPermutation())
    return ValueSupport::everywhere();

  SmallVector<unsigned> all;
  ValueSupport together, best = ValueSupport::everywhere();
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType()))
      continue;
    ValueSupport support =
        toLoops(of(input->get()), op.getMatchingIndexingMap(input));
    if (support.isEverywhere)
      continue;
    all.push_back(input->getOperandNumber());
    together.join(support);
    if (isTighter(support, best) && isNeutral(input->getOperandNumber()))
      best = support;
  }
  if (best.isEverywhere && isNeutral(all))
    best = together;
  ValueSupport found = toResult(best, resultMap);
  if (startsFromInit)
    found.join(of(init->get()));
  return found;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ValueSupport SupportAnalysis::ofLoop(scf::ForOp loop, unsigned number) {
  BlockArgument argument = loop.getRegionIterArg(number);
  Value yielded = loop.getYieldedValues()[number];
  ValueSupport support = of(loop.getInitArgs()[number]);
  ++assumptions;
  while (!support.isEverywhere) {
    size_t before = assumed.size();
    known.try_emplace(argument, support);
    assumed.push_back(argument);
    ValueSupport next = support;
    next.join(leaveRegion(of(yielded), loop));
    while (assumed.size() > before)
      known.erase(assumed.pop_back_val());
    // The sets are finite in number, so this ends.
    if (next == support)
      break;
    support = next;
  }
  --assumptions;
  return support;
}

ValueSupport SupportAnalysis::of(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  ValueSupport support = compute(value);
  known.try_emplace(value, support);
  if (assumptions != 0)
    assumed.push_back(value);
  return support;
}

ValueSupport SupportAnalysis::compute(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto is = [&](Value source) {
    return ValueSupport{false, {{source, getIdentity(value)}}};
  };
  if (isSparse(type))
    return is(patterns.originOf(value));
  if (isZeroConstant(value))
    return ValueSupport::nowhere();
  ValueSupport support = ValueSupport::everywhere();
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop)
      support = ofLoop(loop, argument.getArgNumber() - 1);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    support = ofLoop(loop, cast<OpResult>(value).getResultNumber());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    support = of(branch.thenYield().getOperand(number));
    support.join(of(branch.elseYield().getOperand(number)));
    support = leaveRegion(support, branch);
  } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    if (isZeroConstant(fill.getInputs().front()))
      support = ValueSupport::nowhere();
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    support = ofStructured(structured, cast<OpResult>(value));
  } else if (isa<tensor::CastOp, sparse_tensor::ConvertOp, BarrierOp,
                 StopGradientOp, GradMaskOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    support = of(op->getOperand(number));
  } else if (isa<arith::AddFOp, arith::SubFOp, AccumulateOp>(op)) {
    support = ValueSupport::nowhere();
    for (Value summand : op->getOperands())
      support.join(of(summand));
  }
  // Of a mask nothing says more than itself.
  if (support.isEverywhere && type.getElementType().isInteger(1))
    return is(value);
  return support;
}
