//===- LoopPlan.cpp - in which order loops run ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopPlan.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

/// How many loads a search takes.
static constexpr double searchCost = 4;

double LoopPlan::getExtent(unsigned loop) const {
  APInt extent;
  if (matchPattern(loops.getExtents()[loop], m_ConstantInt(&extent)))
    return std::max<double>(1, extent.getSExtValue());
  return static_cast<double>(estimates.extent);
}

SmallVector<unsigned> LoopPlan::getUnknownLoops(AffineExpr expr) const {
  SmallVector<unsigned> unknown;
  for (unsigned loop = 0; loop < known.size(); ++loop)
    if (!known.test(loop) && expr.isFunctionOfDim(loop))
      unknown.push_back(loop);
  return unknown;
}

void LoopPlan::addDense(unsigned loop) {
  steps.push_back({LoopStep::Dense, 0, 0, 0, loop});
  known.set(loop);
  count *= getExtent(loop);
  cost += count;
}

/// Whether `expr` is solved for loop `loop` by a subtraction: it is the loop's
/// index plus something else.
static bool isSolvable(AffineExpr expr, unsigned loop) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == loop;
  auto sum = cast<AffineBinaryOpExpr>(expr);
  if (sum.getKind() != AffineExprKind::Add)
    return false;
  bool isLeft = sum.getLHS().isFunctionOfDim(loop);
  AffineExpr with = isLeft ? sum.getLHS() : sum.getRHS();
  AffineExpr without = isLeft ? sum.getRHS() : sum.getLHS();
  return !without.isFunctionOfDim(loop) && isSolvable(with, loop);
}

/// The coordinate of dimension `dim` of operand `number` has become known.
void LoopPlan::makeKnown(unsigned number, unsigned dim) {
  AffineExpr expr = loops.getOperand(number).map.getResult(dim);
  SmallVector<unsigned> unknown = getUnknownLoops(expr);
  if (unknown.empty()) {
    steps.push_back({LoopStep::Compare, number, 0, dim, 0});
    return;
  }
  steps.push_back({LoopStep::Bind, number, 0, dim, unknown.front()});
  known.set(unknown.front());
}

void LoopPlan::traverse(unsigned number) {
  const SparseOperand &operand = loops.getOperand(number);
  const SparseStorage &storage = operand.storage;
  AffineMap levels = storage.getDimsToLevels().compose(operand.map);
  // Levels that were not looked for, but found in a loop.
  llvm::SmallBitVector isFree(storage.getNumLevels());
  for (unsigned level = 0; level < storage.getNumLevels(); ++level) {
    AffineExpr expr = levels.getResult(level);
    unsigned dim = 0;
    for (unsigned d = 0; d < operand.map.getNumResults(); ++d)
      if (storage.getDimsToLevels().getResult(level).isFunctionOfDim(d))
        dim = d;
    // All loops but one that the dimension depends on, so that the last one
    // follows; all of them if it would not.
    AffineExpr dimExpr = operand.map.getResult(dim);
    SmallVector<unsigned> unknown = getUnknownLoops(dimExpr);
    bool isBegun = false;
    for (unsigned l = 0; l < level; ++l)
      isBegun |= isFree.test(l) &&
                 storage.getLevelsToDims().getResult(dim).isFunctionOfDim(l);
    if (!unknown.empty() && !isBegun) {
      bool isSolved = isSolvable(dimExpr, unknown.back());
      for (unsigned loop :
           isSolved ? ArrayRef(unknown).drop_back() : ArrayRef(unknown))
        addDense(loop);
    }
    const LevelFormatInfo &format = storage.getFormat(level);
    if (getUnknownLoops(expr).empty()) {
      steps.push_back({LoopStep::Locate, number, level, 0, 0});
      cost += count * (format.storesAll() ? 0.1 : searchCost);
    } else {
      steps.push_back({LoopStep::Iterate, number, level, 0, 0});
      if (format.storesAll())
        count *= getExtent(getUnknownLoops(expr).front());
      else if (format.hasPositions())
        count *= static_cast<double>(level == 0 ? estimates.rowEntries *
                                                      estimates.extent
                                                : estimates.rowEntries);
      else
        count *= static_cast<double>(format.elements);
      cost += count;
      isFree.set(level);
    }
    // Dimensions all of whose levels are behind now.
    for (unsigned d = 0; d < operand.map.getNumResults(); ++d) {
      AffineExpr ofLevels = storage.getLevelsToDims().getResult(d);
      bool isLast = ofLevels.isFunctionOfDim(level);
      bool wasFree = false;
      for (unsigned l = 0; l < storage.getNumLevels(); ++l) {
        isLast &= l <= level || !ofLevels.isFunctionOfDim(l);
        wasFree |= isFree.test(l) && ofLevels.isFunctionOfDim(l);
      }
      if (isLast && wasFree)
        makeKnown(number, d);
    }
  }
}

LoopPlan::LoopPlan(const SparseLoops &loops, ArrayRef<unsigned> order)
    : loops(loops), known(loops.getExtents().size()) {
  for (unsigned number : order)
    traverse(number);
  for (unsigned loop = 0; loop < known.size(); ++loop)
    if (!known.test(loop))
      addDense(loop);
}

void LoopPlan::moveDenseOutside(bool isFirstParallel,
                                llvm::function_ref<bool(unsigned)> mayMove) {
  SmallVector<LoopStep> moved;
  size_t rest = steps.size();
  while (rest > 1 && steps[rest - 1].kind == LoopStep::Dense)
    --rest;
  for (size_t index = steps.size(); index-- > rest;)
    if (mayMove(steps[index].loop)) {
      steps[index].isOutside = true;
      moved.insert(moved.begin(), steps[index]);
      steps.erase(steps.begin() + index);
    }
  steps.insert(steps.begin() + (isFirstParallel ? 1 : 0), moved.begin(),
               moved.end());
}

std::optional<unsigned> LoopPlan::getInnermostDense() const {
  if (steps.empty() || steps.back().kind != LoopStep::Dense)
    return std::nullopt;
  return steps.back().loop;
}

/// The number of the first step that runs with all of `places` known.
size_t LoopPlan::getStepAfter(llvm::SmallBitVector places) const {
  size_t step = 0;
  for (; step < steps.size() && places.any(); ++step)
    if (steps[step].kind == LoopStep::Dense ||
        steps[step].kind == LoopStep::Bind)
      places.reset(steps[step].loop);
  return step;
}

/// Whether what `bind` finds is each index of a loop, and nothing else.
bool LoopPlan::isWholeDim(const LoopStep &bind) const {
  const SparseOperand &operand = loops.getOperand(bind.operand);
  return isa<AffineDimExpr>(operand.map.getResult(bind.dim)) &&
         isa<AffineDimExpr>(
             operand.storage.getLevelsToDims().getResult(bind.dim));
}

void LoopPlan::vectorize(VectorForm form) {
  vectorForm = std::move(form);
  LoopStep step = steps.pop_back_val();
  step.isInLanes = true;
  size_t place = steps.size();
  if (vectorForm.kind == VectorForm::Elements) {
    // A row of a result stays in registers while what is added to it is
    // visited; else a row of an operand, once the outermost loop has begun. No
    // step depends on the loop, which no sparse operand has.
    place = getStepAfter(vectorForm.placeLoops);
    if (place == steps.size())
      for (const llvm::SmallBitVector &read : vectorForm.readLoops)
        if (size_t other = getStepAfter(read); other != 0)
          place = std::min(place, other);
  }
  steps.insert(steps.begin() + place, step);
}

bool LoopPlan::visitsOnce(const llvm::SmallBitVector &places) const {
  size_t end = getStepAfter(places);
  for (const LoopStep &step : ArrayRef(steps).take_front(end))
    switch (step.kind) {
    case LoopStep::Iterate:
      if (!loops.getOperand(step.operand)
               .storage.getFormat(step.level)
               .storesAll())
        return false;
      break;
    case LoopStep::Bind:
      if (!places.test(step.loop) || !isWholeDim(step))
        return false;
      break;
    case LoopStep::Dense:
      if (!places.test(step.loop))
        return false;
      break;
    case LoopStep::Locate:
    case LoopStep::Compare:
      return false;
    }
  if (end == steps.size())
    return false;
  const LoopStep &next = steps[end];
  return next.kind == LoopStep::Dense ||
         (next.kind == LoopStep::Iterate && loops.getOperand(next.operand)
                                                .storage.getFormat(next.level)
                                                .isCompressed());
}

LoopPlan LoopPlan::choose(const SparseLoops &loops, ArrayRef<unsigned> stored,
                          bool isFirstOutermost) {
  SmallVector<unsigned> order(stored);
  auto *begin = order.begin() + (isFirstOutermost ? 1 : 0);
  std::sort(begin, order.end());
  LoopPlan best(loops, order);
  // Few operands have many orders: more than five do not occur in programs.
  constexpr unsigned mostOperands = 6;
  if (order.size() > mostOperands)
    return best;
  while (std::next_permutation(begin, order.end())) {
    LoopPlan plan(loops, order);
    if (plan.cost < best.cost) {
      best.steps = plan.steps;
      best.cost = plan.cost;
    }
  }
  return best;
}
