//===- WhileRule.cpp - the derivative of scf.while ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For reverse mode the iterations are counted first and replayed then by an
// scf.for, whose rule does the rest. A loop that kept its values while it finds
// out how often it runs would have to extend what it keeps at every iteration:
// a copy of all that is kept so far each time, quadratic in the number of
// iterations. Counting costs the primal loop once more.
//
//===----------------------------------------------------------------------===//

#include "ControlFlowRules.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// The active ones among `values`.
static SmallVector<unsigned> activeIndices(ValueRange values,
                                           const Linearizer &linearizer) {
  SmallVector<unsigned> active;
  for (auto [index, value] : llvm::enumerate(values))
    if (linearizer.isActive(value))
      active.push_back(index);
  return active;
}

/// Moves the ops of `from` into `to`, whose first arguments stand for those of
/// `from`.
static void moveBody(Block &from, Block &to, IRMapping &clones) {
  to.getOperations().splice(to.end(), from.getOperations());
  for (auto [old, replacement] :
       llvm::zip(from.getArguments(), to.getArguments())) {
    clones.map(Value(old), Value(replacement));
    old.replaceAllUsesWith(replacement);
  }
}

/// A copy of `loop` that also counts: its last result is the number of times
/// that the second region ran.
static Value createCount(OpBuilder &builder, scf::WhileOp loop) {
  Location loc = loop.getLoc();
  Type index = builder.getIndexType();
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
  SmallVector<Type> types(loop.getResultTypes());
  types.push_back(index);
  auto counting = scf::WhileOp::create(builder, loc, types, inits);
  auto copy = [&](Block &from, Region &region, IRMapping &mapping) -> Block & {
    Block &block = region.emplaceBlock();
    for (BlockArgument argument : from.getArguments())
      mapping.map(argument,
                  block.addArgument(argument.getType(), argument.getLoc()));
    block.addArgument(index, loc);
    OpBuilder inner = OpBuilder::atBlockEnd(&block);
    // The effects of the loop are those of the loop that is counted.
    for (Operation &op : from.without_terminator())
      inner.clone(op, mapping);
    return block;
  };
  IRMapping before, after;
  Block &head = copy(*loop.getBeforeBody(), counting.getBefore(), before);
  OpBuilder inner = OpBuilder::atBlockEnd(&head);
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> forwarded =
      llvm::map_to_vector(condition.getArgs(), [&](Value value) {
        return before.lookupOrDefault(value);
      });
  forwarded.push_back(head.getArguments().back());
  scf::ConditionOp::create(
      inner, loc, before.lookupOrDefault(condition.getCondition()), forwarded);
  Block &body = copy(*loop.getAfterBody(), counting.getAfter(), after);
  inner.setInsertionPointToEnd(&body);
  SmallVector<Value> next =
      llvm::map_to_vector(loop.getYieldOp().getResults(), [&](Value value) {
        return after.lookupOrDefault(value);
      });
  Value one = arith::ConstantIndexOp::create(inner, loc, 1);
  next.push_back(
      arith::AddIOp::create(inner, loc, body.getArguments().back(), one));
  scf::YieldOp::create(inner, loc, next);
  return counting.getResults().back();
}

/// Clones the first region of `loop` run on `carried`; returns what it passes
/// on. The clones are active where the originals are.
static SmallVector<Value> cloneBefore(OpBuilder &builder, scf::WhileOp loop,
                                      ValueRange carried,
                                      Linearizer &linearizer,
                                      SmallVectorImpl<Operation *> &cloned) {
  IRMapping mapping;
  mapping.map(loop.getBeforeArguments(), carried);
  for (Operation *op : getPrimalOps(*loop.getBeforeBody()))
    cloned.push_back(builder.clone(*op, mapping));
  linearizer.noteClones(mapping);
  return llvm::map_to_vector(loop.getConditionOp().getArgs(), [&](Value value) {
    return mapping.lookupOrDefault(value);
  });
}

/// Linearizes an op that was made in place of the loop.
static LogicalResult linearizeReplacement(Operation *op,
                                          Linearizer &linearizer) {
  if (llvm::none_of(getReadValues(op),
                    [&](Value value) {
                      return static_cast<bool>(linearizer.tangent(value));
                    }) ||
      llvm::none_of(op->getResults(),
                    [&](Value result) { return linearizer.isActive(result); }))
    return success();
  // An op without a rule has been met inside the replaying loop already.
  auto differentiable = dyn_cast<LinearizableOpInterface>(op);
  return differentiable ? differentiable.linearize(linearizer)
                        : reportNotTransposable(op);
}

namespace {
struct WhileModel
    : LinearizableOpInterface::ExternalModel<WhileModel, scf::WhileOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto loop = cast<scf::WhileOp>(operation);
    return linearizer.isReverse() ? replay(loop, linearizer)
                                  : linearizeBeside(loop, linearizer);
  }

  /// Forward mode: the loop carries tangents as well.
  static LogicalResult linearizeBeside(scf::WhileOp loop,
                                       Linearizer &linearizer) {
    OpBuilder &builder = linearizer.builder;
    Location loc = loop.getLoc();
    SmallVector<unsigned> before =
        activeIndices(loop.getBeforeArguments(), linearizer);
    SmallVector<unsigned> after;
    for (unsigned index = 0; index < loop.getNumResults(); ++index)
      if (linearizer.isActive(loop.getResult(index)) ||
          linearizer.isActive(loop.getAfterArguments()[index]))
        after.push_back(index);

    SmallVector<Value> inits(loop.getInits());
    for (unsigned index : before)
      inits.push_back(tangentOrZero(linearizer, loop.getInits()[index], loc));
    SmallVector<Type> types(loop.getResultTypes());
    for (unsigned index : after)
      types.push_back(loop.getResult(index).getType());
    auto joint = scf::WhileOp::create(builder, loc, types, inits);
    takeAttributes(joint, loop);
    Block &head = joint.getBefore().emplaceBlock();
    for (Value init : inits)
      head.addArgument(init.getType(), loc);
    Block &body = joint.getAfter().emplaceBlock();
    for (Type type : types)
      body.addArgument(type, loc);

    unsigned numBefore = loop.getInits().size();
    unsigned numAfter = loop.getNumResults();
    IRMapping clones;
    moveBody(*loop.getBeforeBody(), head, clones);
    moveBody(*loop.getAfterBody(), body, clones);
    for (auto [old, replacement] :
         llvm::zip(loop.getResults(), joint.getResults())) {
      clones.map(Value(old), Value(replacement));
      old.replaceAllUsesWith(replacement);
    }
    linearizer.noteClones(clones);
    for (auto [position, index] : llvm::enumerate(before))
      linearizer.setTangent(head.getArgument(index),
                            head.getArgument(numBefore + position));
    for (auto [position, index] : llvm::enumerate(after)) {
      linearizer.setTangent(body.getArgument(index),
                            body.getArgument(numAfter + position));
      linearizer.setTangent(joint.getResult(index),
                            joint.getResult(numAfter + position));
    }
    linearizer.retire(loop);
    if (failed(linearizer.linearizeBlock(head)))
      return failure();
    // The first operand of the condition is the condition itself.
    auto condition = cast<scf::ConditionOp>(head.getTerminator());
    condition.getArgsMutable().append(
        createForwardedTangents(head, /*firstOperand=*/1, after, linearizer));
    if (failed(linearizer.linearizeBlock(body)))
      return failure();
    auto yield = cast<scf::YieldOp>(body.getTerminator());
    yield.getResultsMutable().append(
        createForwardedTangents(body, /*firstOperand=*/0, before, linearizer));
    return success();
  }

  /// Reverse mode: counts the iterations, and runs as many.
  static LogicalResult replay(scf::WhileOp loop, Linearizer &linearizer) {
    Location loc = loop.getLoc();
    OpBuilder builder(loop);
    Value count = createCount(builder, loop);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    auto replayed =
        scf::ForOp::create(builder, loc, zero, count, one, loop.getInits());
    SmallVector<Operation *> cloned;
    {
      OpBuilder::InsertionGuard guard(builder);
      // Without carried values the builder has made the terminator already.
      if (!replayed.getBody()->empty())
        replayed.getBody()->getTerminator()->erase();
      builder.setInsertionPointToStart(replayed.getBody());
      SmallVector<Value> passed = cloneBefore(
          builder, loop, replayed.getRegionIterArgs(), linearizer, cloned);
      IRMapping mapping;
      mapping.map(loop.getAfterArguments(), passed);
      for (Operation *op : getPrimalOps(*loop.getAfterBody()))
        builder.clone(*op, mapping);
      scf::YieldOp::create(
          builder, loc,
          llvm::map_to_vector(loop.getYieldOp().getResults(), [&](Value value) {
            return mapping.lookupOrDefault(value);
          }));
      // What is passed on has an activity of its own already.
      for (BlockArgument argument : loop.getAfterArguments())
        mapping.erase(argument);
      linearizer.noteClones(mapping);
    }
    // The condition that ends the loop is one that passes values on, too.
    cloned.clear();
    SmallVector<Value> results =
        cloneBefore(builder, loop, replayed.getResults(), linearizer, cloned);
    loop.getResults().replaceAllUsesWith(results);
    linearizer.retire(loop);
    if (failed(linearizeReplacement(replayed, linearizer)))
      return failure();
    for (Operation *op : cloned)
      if (failed(linearizeReplacement(op, linearizer)))
        return failure();
    return success();
  }
};
} // namespace

void sparse_autograd::attachWhileRule(MLIRContext &context) {
  scf::WhileOp::attachInterface<WhileModel>(context);
}
