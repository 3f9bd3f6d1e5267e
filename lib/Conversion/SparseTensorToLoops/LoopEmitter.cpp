//===- LoopEmitter.cpp - the loops of one plan ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"
#include "EmitIf.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

OutermostLoop sparse_autograd::describeOutermost(const SparseLoops &loops,
                                                 const LoopStep &step,
                                                 MLIRContext *context) {
  if (step.kind == LoopStep::Dense)
    return {std::nullopt, getAffineDimExpr(step.loop, context)};
  const SparseOperand &operand = loops.getOperand(step.operand);
  AffineMap levels = operand.storage.getDimsToLevels().compose(operand.map);
  bool isUnique = operand.storage.getLevel(step.level).isUnique;
  return {step.operand, isUnique ? levels.getResult(step.level) : AffineExpr()};
}

scf::ForOp LoopEmitter::emitFor(Value begin, Value end, ValueRange carried,
                                Inside inside, int64_t step) {
  Value by = arith::ConstantIndexOp::create(builder, loc, step);
  auto loop = scf::ForOp::create(builder, loc, begin, end, by, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      inside(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, next);
  return loop;
}

/// A loop that adds the terms of every other iteration to sums of their own:
/// they do not wait for each other. What is carried are vectors.
scf::ForOp LoopEmitter::emitPairs(Value begin, Value end, ValueRange carried,
                                  Inside inside) {
  Value two = arith::ConstantIndexOp::create(builder, loc, 2);
  Value count = arith::SubIOp::create(builder, loc, end, begin);
  Value odd = arith::RemUIOp::create(builder, loc, count, two);
  Value endOfPairs = arith::SubIOp::create(builder, loc, end, odd);
  SmallVector<Value> sums(carried);
  for (Value sum : carried)
    sums.push_back(
        createNoTerms(builder, loc, cast<VectorType>(sum.getType())));
  scf::ForOp pairs = emitFor(
      begin, endOfPairs, sums,
      [&](Value iteration, ValueRange now) {
        Value one = arith::ConstantIndexOp::create(builder, loc, 1);
        Value next = arith::AddIOp::create(builder, loc, iteration, one);
        SmallVector<Value> both =
            inside(iteration, now.take_front(carried.size()));
        llvm::append_range(both, inside(next, now.drop_front(carried.size())));
        return both;
      },
      /*step=*/2);
  SmallVector<Value> results;
  for (auto [first, second] :
       llvm::zip_equal(pairs.getResults().take_front(carried.size()),
                       pairs.getResults().drop_front(carried.size())))
    results.push_back(vector::makeArithReduction(
        builder, loc, vector::CombiningKind::ADD, first, second));
  return emitFor(endOfPairs, end, results, inside);
}

/// Whether the loop of `step` is over the entries that an operand stores, and
/// the loops around it are over all of its other levels.
bool LoopEmitter::visitsAllEntries(const LoopStep &step) const {
  if (step.kind != LoopStep::Iterate || isInCondition)
    return false;
  const SparseStorage &storage = loops.getOperand(step.operand).storage;
  if (step.level + 1 != storage.getNumLevels() ||
      !storage.getFormat(step.level).isCompressed())
    return false;
  return llvm::all_of(steps, [&](const LoopStep &other) {
    return other.kind != LoopStep::Iterate || other.operand == step.operand ||
           &other > &step;
  });
}

SmallVector<Value> LoopEmitter::emitCondition(Value condition, unsigned next,
                                              const VisitedElement &element,
                                              ValueRange carried) {
  llvm::SaveAndRestore inCondition(isInCondition, true);
  return emitIf(builder, loc, condition, carried,
                [&]() { return emit(next, element, carried); });
}

/// Whether the loop of `step` over stored entries does little but add to a
/// vector that fits into one register, so that each addition waits for the one
/// before.
bool LoopEmitter::waitsForSums(const VisitedElement &element,
                               const LoopStep &step, ValueRange carried) const {
  return element.lanes && step.kind == LoopStep::Iterate &&
         vectorForm.addsTerms &&
         element.lanes->count * vectorForm.laneBytes <=
             loops.getSchedule().tailBytes &&
         llvm::all_of(carried.getTypes(), llvm::IsaPred<VectorType>) &&
         llvm::none_of(ArrayRef(&step + 1, steps.end()),
                       [](const LoopStep &other) {
                         return other.kind == LoopStep::Iterate ||
                                other.kind == LoopStep::Dense;
                       });
}

SmallVector<Value> LoopEmitter::emitLoop(const VisitedElement &element,
                                         unsigned step, Value begin, Value end,
                                         ValueRange carried, Inside inside) {
  SmallVector<Value> values(carried);
  bool hasEntered = body.enter(builder, element, values);
  // Also loops within parallel ones are: lanes share them, and those of one row
  // are fused.
  bool mayBeParallel =
      loops.getSchedule().isParallel && (!isInLoop || isInParallelLoop);
  bool isParallel =
      steps[step].isOutside ||
      (mayBeParallel && body.writesApart(describeOutermost(
                            loops, steps[step], builder.getContext())));
  hasParallel |= isParallel;
  llvm::SaveAndRestore inLoop(isInLoop, true);
  llvm::SaveAndRestore inParallelLoop(isInParallelLoop,
                                      isInParallelLoop || isParallel);
  scf::ForOp loop = waitsForSums(element, steps[step], values)
                        ? emitPairs(begin, end, values, inside)
                        : emitFor(begin, end, values, inside);
  if (isParallel)
    setParallel(loop);
  if (mayBeParallel && visitsAllEntries(steps[step]))
    setOverEntries(loop);
  SmallVector<Value> results(loop.getResults());
  if (hasEntered)
    body.exit(builder, element, results);
  return results;
}

Value LoopEmitter::getDimCoordinate(const VisitedElement &element,
                                    const LoopStep &step) {
  AffineMap toDims = loops.getOperand(step.operand).storage.getLevelsToDims();
  return apply(toDims.getResult(step.dim), levelCoordinates[step.operand]);
}

SmallVector<Value> LoopEmitter::emitIterate(unsigned index,
                                            VisitedElement element,
                                            ValueRange carried) {
  const LoopStep &step = steps[index];
  LevelCursor cursor = element.cursors.lookup_or(
      step.operand, LevelCursor(loops.getOperand(step.operand).storage));
  auto inside = [&](Value iteration, ValueRange now) {
    SmallVector<Value> &coordinates = levelCoordinates[step.operand];
    coordinates.resize(step.level);
    coordinates.push_back(cursor.getCoordinate(builder, loc, iteration));
    VisitedElement next = element;
    next.cursors.insert_or_assign(step.operand,
                                  cursor.enter(builder, loc, iteration));
    return emit(index + 1, std::move(next), now);
  };
  if (cursor.hasOneElement())
    return inside(cursor.getPosition(), carried);
  auto [begin, end] = cursor.getSegment(builder, loc);
  return emitLoop(element, index, begin, end, carried, inside);
}

SmallVector<Value> LoopEmitter::emitLocate(unsigned index,
                                           VisitedElement element,
                                           ValueRange carried) {
  const LoopStep &step = steps[index];
  LevelCursor cursor = element.cursors.lookup_or(
      step.operand, LevelCursor(loops.getOperand(step.operand).storage));
  Value coordinate =
      loops.getLevelCoordinate(builder, element, step.operand, step.level);
  auto [behind, found] = cursor.locate(builder, loc, coordinate);
  SmallVector<Value> &coordinates = levelCoordinates[step.operand];
  coordinates.resize(step.level);
  coordinates.push_back(coordinate);
  element.cursors.insert_or_assign(step.operand, behind);
  return emitCondition(found, index + 1, element, carried);
}

/// `expr`, which is the index of loop `loop` plus something else, without that
/// index.
static AffineExpr getOffset(AffineExpr expr, unsigned loop) {
  return expr - getAffineDimExpr(loop, expr.getContext());
}

SmallVector<Value> LoopEmitter::emitBind(unsigned index, VisitedElement element,
                                         ValueRange carried) {
  const LoopStep &step = steps[index];
  const SparseOperand &operand = loops.getOperand(step.operand);
  Value coordinate = getDimCoordinate(element, step);
  AffineExpr expr = operand.map.getResult(step.dim);
  bool isWhole = isa<AffineDimExpr>(expr);
  bool isBlocked = !isa<AffineDimExpr>(
      operand.storage.getLevelsToDims().getResult(step.dim));
  Value loopIndex = coordinate;
  if (!isWhole)
    loopIndex = arith::SubIOp::create(
        builder, loc, coordinate,
        apply(simplifyAffineExpr(getOffset(expr, step.loop),
                                 element.indices.size(), /*numSymbols=*/0),
              element.indices));
  element.indices[step.loop] = loopIndex;
  if (isWhole && !isBlocked)
    return emit(index + 1, std::move(element), carried);
  // What pads a block, or lies outside of the loop, is no element. A negative
  // index is a large number without a sign.
  Value isInside =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, loopIndex,
                            loops.getExtents()[step.loop]);
  return emitCondition(isInside, index + 1, element, carried);
}

SmallVector<Value> LoopEmitter::emitCompare(unsigned index,
                                            const VisitedElement &element,
                                            ValueRange carried) {
  const LoopStep &step = steps[index];
  AffineExpr expr = loops.getOperand(step.operand).map.getResult(step.dim);
  Value isEqual = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        getDimCoordinate(element, step),
                                        apply(expr, element.indices));
  return emitCondition(isEqual, index + 1, element, carried);
}

SmallVector<Value> LoopEmitter::emitDense(unsigned index,
                                          VisitedElement element,
                                          ValueRange carried) {
  const LoopStep &step = steps[index];
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return emitLoop(element, index, zero, loops.getExtents()[step.loop], carried,
                  [&](Value iteration, ValueRange now) {
                    VisitedElement next = element;
                    next.indices[step.loop] = iteration;
                    return emit(index + 1, std::move(next), now);
                  });
}

SmallVector<Value> LoopEmitter::emitVector(unsigned index,
                                           VisitedElement element,
                                           ValueRange carried) {
  const LoopStep &step = steps[index];
  const LoopSchedule &schedule = loops.getSchedule();
  int64_t count = schedule.vectorBytes / vectorForm.laneBytes;
  int64_t tail = schedule.tailBytes / vectorForm.laneBytes;
  Value extent = loops.getExtents()[step.loop];
  auto inside = [&](const Lanes &lanes, Value first, ValueRange now) {
    VisitedElement next = element;
    next.lanes = lanes;
    next.indices[step.loop] = first;
    return emit(index + 1, std::move(next), now);
  };
  if (vectorForm.kind == VectorForm::Elements)
    return buildStrips(builder, loc, step.loop, extent, count, tail, carried,
                       inside);
  SmallVector<Value> values(carried);
  bool hasEntered = body.enter(builder, element, values);
  values =
      buildSums(builder, loc, step.loop, extent, count, tail, values, inside);
  if (hasEntered)
    body.exit(builder, element, values);
  return values;
}

SmallVector<Value> LoopEmitter::visit(const VisitedElement &element,
                                      unsigned nextMissing,
                                      ValueRange carried) {
  if (nextMissing == missing.size())
    return body.visit(builder, element, carried);
  SmallVector<Value> kept(carried);
  return loops.lookUp(
      builder, element, missing[nextMissing], carried.getTypes(),
      [&](OpBuilder &, Value) { return kept; },
      [&](OpBuilder &) { return visit(element, nextMissing + 1, kept); });
}

SmallVector<Value> LoopEmitter::emit(unsigned step, VisitedElement element,
                                     ValueRange carried) {
  if (step == steps.size())
    return visit(element, 0, carried);
  switch (steps[step].kind) {
  case LoopStep::Iterate:
    return emitIterate(step, std::move(element), carried);
  case LoopStep::Locate:
    return emitLocate(step, std::move(element), carried);
  case LoopStep::Bind:
    return emitBind(step, std::move(element), carried);
  case LoopStep::Compare:
    return emitCompare(step, element, carried);
  case LoopStep::Dense:
    if (steps[step].isInLanes)
      return emitVector(step, std::move(element), carried);
    return emitDense(step, std::move(element), carried);
  }
  llvm_unreachable("a kind of step that is not listed");
}
