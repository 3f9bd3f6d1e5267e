//===- ForRule.cpp - the derivative of scf.for ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For reverse mode the tangent of a loop is a loop of its own: of the primal
// body it reads at each iteration what the primal loop has kept, and computes
// again what that makes cheaper (ResidualPlan). Its transpose runs the
// iterations backward.
//
//===----------------------------------------------------------------------===//

#include "ControlFlowRules.h"
#include "KeptValues.h"
#include "LoopTape.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct ForModel : LinearizableOpInterface::ExternalModel<ForModel, scf::ForOp> {
  /// The carried values that have tangents.
  static SmallVector<unsigned> activeIndices(scf::ForOp loop,
                                             const Linearizer &linearizer) {
    SmallVector<unsigned> active;
    for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index)
      if (linearizer.isActive(loop.getRegionIterArg(index)) ||
          linearizer.isActive(loop.getResult(index)))
        active.push_back(index);
    return active;
  }

  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto loop = cast<scf::ForOp>(operation);
    SmallVector<unsigned> active = activeIndices(loop, linearizer);
    return linearizer.isReverse() ? linearizeApart(loop, active, linearizer)
                                  : linearizeBeside(loop, active, linearizer);
  }

  /// Forward mode: the loop carries tangents as well.
  static LogicalResult linearizeBeside(scf::ForOp loop,
                                       ArrayRef<unsigned> active,
                                       Linearizer &linearizer) {
    OpBuilder &builder = linearizer.builder;
    SmallVector<Value> inits(loop.getInitArgs());
    for (unsigned index : active)
      inits.push_back(
          tangentOrZero(linearizer, loop.getInitArgs()[index], loop.getLoc()));
    auto joint =
        scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), inits);
    takeAttributes(joint, loop);
    unsigned numCarried = loop.getNumRegionIterArgs();
    Block *body = joint.getBody();
    body->getOperations().splice(body->end(), loop.getBody()->getOperations());
    IRMapping clones;
    for (auto [old, replacement] :
         llvm::zip(loop.getBody()->getArguments(), body->getArguments())) {
      clones.map(Value(old), Value(replacement));
      old.replaceAllUsesWith(replacement);
    }
    for (auto [old, replacement] :
         llvm::zip(loop.getResults(), joint.getResults())) {
      clones.map(Value(old), Value(replacement));
      old.replaceAllUsesWith(replacement);
    }
    linearizer.noteClones(clones);
    for (auto [position, index] : llvm::enumerate(active)) {
      linearizer.setTangent(joint.getRegionIterArg(index),
                            joint.getRegionIterArg(numCarried + position));
      linearizer.setTangent(joint.getResult(index),
                            joint.getResult(numCarried + position));
    }
    linearizer.retire(loop);
    if (failed(linearizer.linearizeBlock(*body)))
      return failure();
    cast<scf::YieldOp>(body->getTerminator())
        .getResultsMutable()
        .append(createForwardedTangents(*body, /*firstOperand=*/0, active,
                                        linearizer));
    return success();
  }

  /// Reverse mode: a loop of its own computes the tangents.
  static LogicalResult linearizeApart(scf::ForOp loop,
                                      ArrayRef<unsigned> active,
                                      Linearizer &linearizer) {
    Location loc = loop.getLoc();
    OpBuilder &builder = linearizer.builder;
    // A tangent has the pattern of its value: here that of what the loop starts
    // from.
    SparsePatterns patterns;
    for (unsigned index : active) {
      Value argument = loop.getRegionIterArg(index);
      if (isSparse(argument.getType()) &&
          !getOuterPattern(loop, argument, patterns))
        return reportNewPatterns(loop, argument);
    }
    SmallVector<Value> inits;
    for (unsigned index : active)
      inits.push_back(
          tangentOrZero(linearizer, loop.getInitArgs()[index], loc));
    // What the primal loop carries is read once it is known what it keeps.
    // Until then it has the extents of what the loop starts from.
    IRMapping mapping;
    for (auto [argument, init] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
      if (!argument.use_empty())
        mapping.map(argument, createStandIn(builder, loc, init));
    auto tangent =
        scf::ForOp::create(builder, loc, loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), inits);
    OpBuilder::InsertionGuard guard(builder);
    // Without carried values the builder has made the terminator already.
    if (!tangent.getBody()->empty())
      tangent.getBody()->getTerminator()->erase();
    builder.setInsertionPointToStart(tangent.getBody());
    mapping.map(loop.getInductionVar(), tangent.getInductionVar());
    for (Operation *op : getPrimalOps(*loop.getBody()))
      builder.clone(*op, mapping);
    auto primalYield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    auto yield = scf::YieldOp::create(
        builder, loc,
        llvm::map_to_vector(primalYield.getResults(), [&](Value value) {
          return mapping.lookupOrDefault(value);
        }));
    linearizer.noteClones(mapping);
    for (auto [position, index] : llvm::enumerate(active)) {
      Value argument = tangent.getRegionIterArg(position);
      linearizer.noteShape(argument, loop.getInitArgs()[index]);
      if (Value primal =
              mapping.lookupOrNull(Value(loop.getRegionIterArg(index))))
        linearizer.setTangent(primal, argument);
    }
    if (failed(linearizer.linearizeBlock(*tangent.getBody())))
      return failure();
    yield->setOperands(createForwardedTangents(
        *tangent.getBody(), /*firstOperand=*/0, active, linearizer));

    SmallVector<CarriedValue> carried;
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (Value standIn = mapping.lookupOrNull(Value(argument)))
        carried.push_back(
            {argument, standIn, loop.getTiedLoopYieldedValue(argument)->get()});
    SmallVector<KeptValue> kept =
        chooseKeptValues(*loop.getBody(), *tangent.getBody(),
                         tangent.getRegionIterArgs(), carried, linearizer,
                         /*readsPrimal=*/false);
    FailureOr<LoopTape> tape = LoopTape::record(
        loop,
        llvm::map_to_vector(kept, [](auto value) { return value.primal; }),
        linearizer);
    if (failed(tape))
      return failure();
    loop = tape->getLoop();
    builder.setInsertionPointToStart(tangent.getBody());
    IRMapping read;
    tape->read(builder,
               createPosition(builder, loop, tangent.getInductionVar()), read);
    for (auto [primal, counterpart] : kept)
      counterpart.replaceAllUsesWith(read.lookup(primal));
    for (auto [position, index] : llvm::enumerate(active))
      linearizer.setTangent(loop.getResult(index), tangent.getResult(position));
    return success();
  }

  /// A value of the type and the extents of `init` of which nothing else is
  /// known.
  static Value createStandIn(OpBuilder &builder, Location loc, Value init) {
    if (isa<RankedTensorType>(init.getType()))
      return tensor::CastOp::create(builder, loc, init.getType(), init);
    return UnrealizedConversionCastOp::create(builder, loc, init.getType(),
                                              init)
        .getResult(0);
  }

  /// Masks go around the loop with the cotangents that they are supports of.
  /// What the body makes of a support is known once the body is transposed, so
  /// the loop is built anew until that is what it was built for.
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto loop = cast<scf::ForOp>(operation);
    unsigned numCarried = loop.getNumRegionIterArgs();
    SmallVector<Value> values(loop.getResults());
    llvm::append_range(values,
                       capturedLinearValues(loop->getRegions(), transposer));
    SmallVector<Reach> reaches = llvm::map_to_vector(
        values, [&](Value value) { return reachOf(transposer, value); });
    // What was captured is reached from the body alone.
    std::fill(reaches.begin() + numCarried, reaches.end(), Reach::Nowhere);
    while (true) {
      FailureOr<ReversedLoop> reversed =
          reverse(loop, values, reaches, transposer);
      if (failed(reversed))
        return failure();
      bool isStable = true;
      for (auto [index, reach, found] :
           llvm::enumerate(reaches, reversed->reaches))
        isStable &= index < numCarried
                        ? reach == found
                        : (reach == Reach::Part) == (found == Reach::Part);
      reaches = reversed->reaches;
      if (!isStable) {
        reversed->loop.erase();
        continue;
      }
      auto mask = reversed->loop.result_begin() + values.size();
      for (auto [index, value] : llvm::enumerate(values)) {
        if (reaches[index] == Reach::Nowhere)
          continue;
        Support support;
        if (reaches[index] == Reach::Part)
          support = Support::of(*mask++);
        transposer.accumulate(
            index < numCarried ? loop.getInitArgs()[index] : value,
            reversed->loop.getResult(index), support, /*isSelected=*/true);
      }
      return success();
    }
  }

private:
  struct ReversedLoop {
    /// Yields a cotangent for each value, then masks for those reached in part.
    scf::ForOp loop;
    /// What is reached of each value behind the loop: of a carried one not less
    /// than before it.
    SmallVector<Reach> reaches;
  };

  /// Builds the loop that runs the iterations of `loop` backward and carries
  /// the cotangents of `values`, which are the results of `loop` and then what
  /// it captures, and masks for those that `reaches` says need one.
  static FailureOr<ReversedLoop> reverse(scf::ForOp loop,
                                         ArrayRef<Value> values,
                                         ArrayRef<Reach> reaches,
                                         Transposer &transposer) {
    OpBuilder &builder = transposer.builder;
    Location loc = loop.getLoc();
    unsigned numCarried = loop.getNumRegionIterArgs();
    SmallVector<Value> inits, masks;
    for (auto [index, value] : llvm::enumerate(values)) {
      // Those of captured values are gathered from iteration to iteration.
      Value cotangent =
          index < numCarried ? transposer.unroundedCotangent(value) : Value();
      // What iterations add up is rounded behind the last one.
      Type elementType =
          getAccumulationType(getElementTypeOrSelf(value.getType()));
      Value init = cotangent
                       ? createFloatCast(builder, loc, cotangent, elementType)
                       : createZero(builder, loc, transposer.shapeOf(value),
                                    elementType);
      inits.push_back(init);
      if (reaches[index] == Reach::Part)
        masks.push_back(
            cotangent ? materializeMask(builder, loc, transposer.support(value),
                                        cotangent)
                      : createMask(builder, loc, /*selects=*/false, init));
    }
    llvm::append_range(inits, masks);

    Value lower = transposer.primal(loop.getLowerBound());
    Value upper = transposer.primal(loop.getUpperBound());
    Value step = transposer.primal(loop.getStep());
    Value count = createTripCount(builder, loop, lower, upper, step);
    if (count.getType() != lower.getType())
      count =
          getValueOrCreateCastToIndexLike(builder, loc, lower.getType(), count);
    // The induction variables of iteration k and of the one that it undoes sum
    // to lower + last, with last = lower + (count - 1) step.
    Value one = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(count.getType(), 1));
    Value last = arith::AddIOp::create(
        builder, loc, lower,
        arith::MulIOp::create(builder, loc,
                              arith::SubIOp::create(builder, loc, count, one),
                              step));
    Value sum = arith::AddIOp::create(builder, loc, lower, last);

    ReversedLoop reversed;
    reversed.loop = scf::ForOp::create(builder, loc, lower, upper, step, inits);
    Block *body = reversed.loop.getBody();
    if (!body->empty())
      body->getTerminator()->erase();
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    IRMapping mapping;
    mapping.map(loop.getInductionVar(),
                arith::SubIOp::create(inner, loc, sum,
                                      reversed.loop.getInductionVar()));
    std::unique_ptr<Transposer> nested = transposer.createNested(
        inner, *loop.getBody(), loop.getRegionIterArgs(), mapping);
    ArrayRef<BlockArgument> arguments = body->getArguments().drop_front();
    ArrayRef<BlockArgument> maskArguments = arguments.drop_front(values.size());
    // The masks of those that have one, by value.
    SmallVector<Value> carriedMasks;
    for (Reach reach : reaches) {
      carriedMasks.emplace_back();
      if (reach == Reach::Part)
        carriedMasks.back() = maskArguments.consume_front();
    }
    auto supportAround = [&](unsigned index) {
      Value mask = carriedMasks[index];
      return mask ? Support::of(mask) : Support();
    };
    for (unsigned index = numCarried; index < values.size(); ++index) {
      // The mask is asked for once the value is known to be reached in part.
      Support support = supportAround(index);
      if (!support && !isProgramInput(values[index]))
        support = Support::of(createMask(nested->builder, loc,
                                         /*selects=*/false, arguments[index]));
      nested->startFrom(values[index], arguments[index], support);
    }
    Operation *yield = loop.getBody()->getTerminator();
    for (unsigned index = 0; index < numCarried; ++index)
      if (reaches[index] != Reach::Nowhere)
        nested->accumulate(yield->getOperand(index), arguments[index],
                           supportAround(index), /*isSelected=*/true);
    if (failed(nested->run()))
      return failure();

    OpBuilder &end = nested->builder;
    SmallVector<Value> yielded, yieldedMasks;
    for (auto [index, value] : llvm::enumerate(values)) {
      bool isCarried = index < numCarried;
      Value source = isCarried ? Value(loop.getRegionIterArg(index)) : value;
      Reach reach = reachOf(*nested, source);
      reversed.reaches.push_back(isCarried ? std::max(reach, reaches[index])
                                           : reach);
      Value total = nested->unroundedCotangent(source);
      Type elementType = getElementTypeOrSelf(arguments[index].getType());
      if (total)
        total = createFloatCast(end, loc, total, elementType);
      else
        total = isCarried
                    ? createZero(end, loc, nested->shapeOf(source), elementType)
                    : Value(arguments[index]);
      yielded.push_back(total);
      if (reaches[index] != Reach::Part)
        continue;
      if (reach != Reach::Nowhere)
        yieldedMasks.push_back(
            materializeMask(end, loc, nested->support(source), total));
      else if (isCarried)
        yieldedMasks.push_back(createMask(end, loc, /*selects=*/false, total));
      else
        yieldedMasks.push_back(carriedMasks[index]);
    }
    llvm::append_range(yielded, yieldedMasks);
    scf::YieldOp::create(end, loc, yielded);
    return reversed;
  }
};
} // namespace

void sparse_autograd::attachForRule(MLIRContext &context) {
  scf::ForOp::attachInterface<ForModel>(context);
}
