//===- ForRule.cpp - the derivative of scf.for ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For reverse mode the tangent of a loop is a loop of its own: at each
// iteration it computes the primal body again, from the values that the primal
// loop carried into that iteration and has kept. Its transpose runs the
// iterations backward.
//
//===----------------------------------------------------------------------===//

#include "ControlFlowRules.h"
#include "LoopTape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

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

  /// The tangents that come out of the loop body `block`.
  static SmallVector<Value> yieldedTangents(Block &block,
                                            ArrayRef<unsigned> active,
                                            Linearizer &linearizer) {
    OpBuilder::InsertionGuard guard(linearizer.builder);
    Operation *yield = block.getTerminator();
    linearizer.builder.setInsertionPoint(yield);
    return llvm::map_to_vector(active, [&](unsigned index) {
      return linearizer.tangentOrZero(yield->getOperand(index),
                                      yield->getLoc());
    });
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
          linearizer.tangentOrZero(loop.getInitArgs()[index], loop.getLoc()));
    auto joint =
        scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), inits);
    joint->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
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
        .append(yieldedTangents(*body, active, linearizer));
    return success();
  }

  /// Reverse mode: a loop of its own computes the tangents.
  static LogicalResult linearizeApart(scf::ForOp loop,
                                      ArrayRef<unsigned> active,
                                      Linearizer &linearizer) {
    FailureOr<LoopTape> tape = LoopTape::record(loop, linearizer);
    if (failed(tape))
      return failure();
    loop = tape->getLoop();
    Location loc = loop.getLoc();
    OpBuilder &builder = linearizer.builder;
    SmallVector<Value> inits;
    for (unsigned index : active)
      inits.push_back(linearizer.tangentOrZero(loop.getInitArgs()[index], loc));
    auto tangent =
        scf::ForOp::create(builder, loc, loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), inits);
    OpBuilder::InsertionGuard guard(builder);
    // Without carried values the builder has made the terminator already.
    if (!tangent.getBody()->empty())
      tangent.getBody()->getTerminator()->erase();
    builder.setInsertionPointToStart(tangent.getBody());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), tangent.getInductionVar());
    tape->read(builder,
               createPosition(builder, loop, tangent.getInductionVar()),
               mapping);
    for (Operation *op : tape->getPrimalOps())
      builder.clone(*op, mapping);
    auto primalYield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    auto yield = scf::YieldOp::create(
        builder, loc,
        llvm::map_to_vector(primalYield.getResults(), [&](Value value) {
          return mapping.lookupOrDefault(value);
        }));
    linearizer.noteClones(mapping);
    for (auto [position, index] : llvm::enumerate(active))
      if (Value primal =
              mapping.lookupOrNull(Value(loop.getRegionIterArg(index))))
        linearizer.setTangent(primal, tangent.getRegionIterArg(position));
    if (failed(linearizer.linearizeBlock(*tangent.getBody())))
      return failure();
    yield->setOperands(yieldedTangents(*tangent.getBody(), active, linearizer));
    for (auto [position, index] : llvm::enumerate(active))
      linearizer.setTangent(loop.getResult(index), tangent.getResult(position));
    return success();
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto loop = cast<scf::ForOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = loop.getLoc();
    SmallVector<Value> captured =
        capturedLinearValues(loop->getRegions(), transposer);
    SmallVector<Value> inits;
    for (OpResult result : loop.getResults()) {
      Value cotangent = transposer.cotangent(result);
      inits.push_back(
          cotangent ? cotangent
                    : createZero(builder, loc, transposer.shapeOf(result)));
    }
    for (Value value : captured)
      inits.push_back(createZero(builder, loc, transposer.shapeOf(value)));

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

    auto reversed = scf::ForOp::create(builder, loc, lower, upper, step, inits);
    OpBuilder body = OpBuilder::atBlockBegin(reversed.getBody());
    if (!reversed.getBody()->empty())
      reversed.getBody()->getTerminator()->erase();
    body.setInsertionPointToEnd(reversed.getBody());
    Value iv =
        arith::SubIOp::create(body, loc, sum, reversed.getInductionVar());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), iv);
    std::unique_ptr<Transposer> nested = transposer.createNested(
        body, *loop.getBody(), loop.getRegionIterArgs(), mapping);
    Operation *yield = loop.getBody()->getTerminator();
    unsigned numCarried = loop.getNumRegionIterArgs();
    for (unsigned index = 0; index < numCarried; ++index)
      nested->accumulate(yield->getOperand(index),
                         reversed.getRegionIterArg(index));
    if (failed(nested->run()))
      return failure();

    SmallVector<Value> yielded;
    for (BlockArgument argument : loop.getRegionIterArgs()) {
      Value cotangent = nested->cotangent(argument);
      yielded.push_back(cotangent ? cotangent
                                  : createZero(nested->builder, loc,
                                               nested->shapeOf(argument)));
    }
    for (auto [index, value] : llvm::enumerate(captured)) {
      Value total = reversed.getRegionIterArg(numCarried + index);
      if (Value cotangent = nested->cotangent(value))
        total = arith::AddFOp::create(nested->builder, loc, total, cotangent);
      yielded.push_back(total);
    }
    scf::YieldOp::create(nested->builder, loc, yielded);

    for (auto [index, init] : llvm::enumerate(loop.getInitArgs()))
      transposer.accumulate(init, reversed.getResult(index));
    for (auto [index, value] : llvm::enumerate(captured))
      transposer.accumulate(value, reversed.getResult(numCarried + index));
    return success();
  }
};
} // namespace

void sparse_autograd::attachForRule(MLIRContext &context) {
  scf::ForOp::attachInterface<ForModel>(context);
}
