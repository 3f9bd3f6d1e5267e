//===- LoopTape.cpp - what a loop keeps for its transpose -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopTape.h"
#include "KeptValues.h"
#include "Slices.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::createTripCount(OpBuilder &builder, scf::ForOp loop,
                                       Value lower, Value upper, Value step) {
  Location loc = loop.getLoc();
  Value distance = arith::SubIOp::create(builder, loc, upper, lower);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(distance.getType(), 0));
  distance = arith::MaxSIOp::create(builder, loc, distance, zero);
  Value count = arith::CeilDivSIOp::create(builder, loc, distance, step);
  return getValueOrCreateCastToIndexLike(builder, loc, builder.getIndexType(),
                                         count);
}

Value sparse_autograd::createPosition(OpBuilder &builder, scf::ForOp loop,
                                      Value iv) {
  Location loc = loop.getLoc();
  Value distance =
      arith::SubIOp::create(builder, loc, iv, loop.getLowerBound());
  Value position =
      arith::DivSIOp::create(builder, loc, distance, loop.getStep());
  return getValueOrCreateCastToIndexLike(builder, loc, builder.getIndexType(),
                                         position);
}

/// Offsets, sizes and strides of the entry `position` of `tape`.
static void getEntry(OpBuilder &builder, Location loc, Value tape,
                     Value position, SmallVectorImpl<OpFoldResult> &offsets,
                     SmallVectorImpl<OpFoldResult> &sizes,
                     SmallVectorImpl<OpFoldResult> &strides) {
  sizes = tensor::getMixedSizes(builder, loc, tape);
  offsets.assign(sizes.size(), builder.getIndexAttr(0));
  strides.assign(sizes.size(), builder.getIndexAttr(1));
  offsets[0] = position;
  sizes[0] = builder.getIndexAttr(1);
}

/// `tape` with `value` at `position`.
static Value write(OpBuilder &builder, Location loc, Value value, Value tape,
                   Value position) {
  if (!isa<RankedTensorType>(value.getType()))
    return tensor::InsertOp::create(builder, loc, value, tape, position);
  if (isSparse(value.getType()))
    value = createStoredValues(builder, loc, value);
  SmallVector<OpFoldResult> offsets, sizes, strides;
  getEntry(builder, loc, tape, position, offsets, sizes, strides);
  return replaceSlice(builder, loc, value, tape, offsets, sizes, strides);
}

InFlightDiagnostic sparse_autograd::reportNewPatterns(scf::ForOp loop,
                                                      Value value) {
  InFlightDiagnostic diagnostic = emitError(loop.getLoc());
  diagnostic
      << "this loop carries a sparse tensor of type " << value.getType()
      << " whose pattern may change from one iteration to the next; its "
         "gradient would have to keep every pattern. Keep to the pattern that "
         "the loop starts from (sparse_autograd.sample), carry a dense tensor "
         "(sparse_tensor.convert), write the iterations out, or differentiate "
         "with sparse_autograd.jvp";
  auto argument = dyn_cast<BlockArgument>(value);
  Value yielded =
      argument ? loop.getTiedLoopYieldedValue(argument)->get() : value;
  if (Operation *maker = yielded.getDefiningOp())
    diagnostic.attachNote(maker->getLoc())
        << "this '" << maker->getName() << "' makes the next pattern";
  return diagnostic;
}

FailureOr<LoopTape> LoopTape::record(scf::ForOp loop, ArrayRef<Value> values,
                                     Linearizer &linearizer) {
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  // The carried values whose tapes have what is yielded for them as well, by
  // what is yielded.
  llvm::SmallDenseMap<Value, Value> carriedAs;
  for (Value value : values) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      continue;
    Value next = yield.getOperand(argument.getArgNumber() - 1);
    if (next.getParentBlock() == loop.getBody() && next.getDefiningOp() &&
        llvm::is_contained(values, next))
      carriedAs.try_emplace(next, value);
  }
  auto sharesTape = [&](Value argument) {
    return llvm::any_of(carriedAs,
                        [&](auto &pair) { return pair.second == argument; });
  };

  // One tape for each value but those that share one.
  Value count = createTripCount(builder, loop, loop.getLowerBound(),
                                loop.getUpperBound(), loop.getStep());
  std::optional<APInt> staticCount = loop.getStaticTripCount();
  SmallVector<Value> inits(loop.getInitArgs()), taped;
  SparsePatterns patterns;
  llvm::SmallDenseMap<Value, Value> outerPatterns;
  for (Value value : values) {
    if (!isSparse(value.getType()) && !canBeKept(loop, value, patterns))
      return loop.emitOpError("carries ")
             << value.getType()
             << ", which cannot be kept for the backward pass; carry tensors "
                "and numbers";
    if (isSparse(value.getType())) {
      Value pattern = getOuterPattern(loop, value, patterns);
      if (!pattern)
        return reportNewPatterns(loop, value);
      outerPatterns[value] = pattern;
    }
    if (carriedAs.contains(value))
      continue;
    int64_t numMore = sharesTape(value) ? 1 : 0;
    SmallVector<OpFoldResult> shape;
    if (Value pattern = outerPatterns.lookup(value))
      shape = tensor::getMixedSizes(builder, loc,
                                    createStoredValues(builder, loc, pattern));
    else
      shape = getOuterShape(builder, loop, value);
    OpFoldResult length =
        staticCount ? OpFoldResult(builder.getIndexAttr(
                          staticCount->getSExtValue() + numMore))
                    : arith::AddIOp::create(
                          builder, loc, count,
                          arith::ConstantIndexOp::create(builder, loc, numMore))
                          .getResult();
    shape.insert(shape.begin(), length);
    taped.push_back(value);
    inits.push_back(tensor::EmptyOp::create(
        builder, loc, shape, getElementTypeOrSelf(value.getType())));
  }

  auto replacement =
      scf::ForOp::create(builder, loc, loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  takeAttributes(replacement, loop);
  Block *body = replacement.getBody();
  unsigned numCarried = loop.getNumRegionIterArgs();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  IRMapping clones;
  for (auto [old, argument] :
       llvm::zip(loop.getBody()->getArguments(), body->getArguments())) {
    clones.map(Value(old), Value(argument));
    old.replaceAllUsesWith(argument);
  }
  for (auto [old, result] :
       llvm::zip(loop.getResults(), replacement.getResults())) {
    clones.map(Value(old), Value(result));
    old.replaceAllUsesWith(result);
  }
  linearizer.noteClones(clones);

  LoopTape result;
  result.loop = replacement;
  builder.setInsertionPointToStart(body);
  Value position =
      createPosition(builder, replacement, replacement.getInductionVar());
  for (auto [index, value] : llvm::enumerate(taped)) {
    // Written as soon as it is there: what follows may compute in its place.
    Value source = clones.lookupOrDefault(value);
    Operation *definition = source.getDefiningOp();
    builder.setInsertionPointAfter(definition ? definition
                                              : position.getDefiningOp());
    Value tape = replacement.getRegionIterArg(numCarried + index);
    yield.getResultsMutable().append(
        write(builder, loc, source, tape, position));

    Value kept = replacement.getResult(numCarried + index);
    for (auto [yielded, carried] : carriedAs) {
      if (carried != value)
        continue;
      // What the last iteration yields is what the loop returns.
      builder.setInsertionPointAfter(replacement);
      kept = write(builder, loc,
                   replacement.getTiedLoopResult(cast<BlockArgument>(source)),
                   kept, count);
      result.entries.push_back(
          {yielded, kept, outerPatterns.lookup(yielded), /*isYielded=*/true});
    }
    result.entries.push_back(
        {value, kept, outerPatterns.lookup(value), /*isYielded=*/false});
  }
  linearizer.retire(loop);
  return result;
}

void LoopTape::read(OpBuilder &builder, Value position,
                    IRMapping &mapping) const {
  Location loc = loop->getLoc();
  for (const Entry &entry : entries) {
    Value at = position;
    if (entry.isYielded)
      at = arith::AddIOp::create(
          builder, loc, position,
          arith::ConstantIndexOp::create(builder, loc, 1));
    auto type = dyn_cast<RankedTensorType>(entry.value.getType());
    if (!type) {
      mapping.map(
          entry.value,
          tensor::ExtractOp::create(builder, loc, entry.tape, at).getResult());
      continue;
    }
    SmallVector<OpFoldResult> offsets, sizes, strides;
    getEntry(builder, loc, entry.tape, at, offsets, sizes, strides);
    if (entry.pattern) {
      auto list =
          RankedTensorType::get({ShapedType::kDynamic}, type.getElementType());
      Value values =
          createSlice(builder, loc, list, entry.tape, offsets, sizes, strides);
      mapping.map(entry.value, WithValuesOp::create(builder, loc, type, values,
                                                    entry.pattern)
                                   .getResult());
      continue;
    }
    mapping.map(entry.value, createSlice(builder, loc, type, entry.tape,
                                         offsets, sizes, strides));
  }
}
