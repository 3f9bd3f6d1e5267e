//===- ControlFlowRules.cpp - derivatives of loops and branches -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward mode carries tangents beside the primal values. For reverse mode the
// tangent of a loop is a loop of its own: at each iteration it computes the
// primal body again, from the values that the primal loop carried into that
// iteration and has kept. Its transpose runs the iterations backward.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace sparse_autograd;

/// The ops of `block` before the terminator, except those that only have
/// effects: the primal program has had them.
static SmallVector<Operation *> getPrimalOps(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    if (op.getNumResults() != 0 || isMemoryEffectFree(&op))
      ops.push_back(&op);
  return ops;
}

/// The linear values of the enclosing program that `regions` read.
static SmallVector<Value> capturedLinearValues(MutableArrayRef<Region> regions,
                                               const Transposer &transposer) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(regions, captured);
  return llvm::to_vector(llvm::make_filter_range(
      captured, [&](Value value) { return transposer.isLinear(value); }));
}

//===----------------------------------------------------------------------===//
// scf.for
//===----------------------------------------------------------------------===//

/// An integer constant of the type of `like`.
static Value createConstant(OpBuilder &builder, Location loc, Value like,
                            int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(like.getType(), value));
}

/// The number of iterations of `loop`, as an index.
static Value createTripCount(OpBuilder &builder, scf::ForOp loop, Value lower,
                             Value upper, Value step) {
  Location loc = loop.getLoc();
  Value distance = arith::SubIOp::create(builder, loc, upper, lower);
  Value zero = createConstant(builder, loc, distance, 0);
  distance = arith::MaxSIOp::create(builder, loc, distance, zero);
  Value count = arith::CeilDivSIOp::create(builder, loc, distance, step);
  return getValueOrCreateCastToIndexLike(builder, loc, builder.getIndexType(),
                                         count);
}

/// The position of the iteration with induction variable `iv`, as an index.
static Value createPosition(OpBuilder &builder, scf::ForOp loop, Value iv) {
  Location loc = loop.getLoc();
  Value distance =
      arith::SubIOp::create(builder, loc, iv, loop.getLowerBound());
  Value position =
      arith::DivSIOp::create(builder, loc, distance, loop.getStep());
  return getValueOrCreateCastToIndexLike(builder, loc, builder.getIndexType(),
                                         position);
}

namespace {

/// Keeps what a loop carries into each of its iterations.
class Tape {
public:
  /// Replaces `loop` by one that keeps what its body reads of the carried
  /// values.
  static FailureOr<Tape> record(scf::ForOp loop, Linearizer &linearizer);

  /// The loop that keeps the values.
  scf::ForOp getLoop() const { return loop; }

  /// The ops that the body of the loop had before it kept values.
  ArrayRef<Operation *> getPrimalOps() const { return primalOps; }

  /// Maps the carried values of the loop to what was kept for `position`.
  void read(OpBuilder &builder, Value position, IRMapping &mapping) const;

private:
  scf::ForOp loop;
  SmallVector<Operation *> primalOps;
  /// For each carried value, the kept values; null if they are not needed.
  SmallVector<Value> kept;
};

} // namespace

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

FailureOr<Tape> Tape::record(scf::ForOp loop, Linearizer &linearizer) {
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  Value count = createTripCount(builder, loop, loop.getLowerBound(),
                                loop.getUpperBound(), loop.getStep());
  SmallVector<Value> inits(loop.getInitArgs());
  SmallVector<unsigned> keptArguments;
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (argument.use_empty())
      continue;
    Type type = argument.getType();
    if (!isa<RankedTensorType>(type) && !type.isIntOrIndexOrFloat())
      return loop.emitOpError("carries ")
             << type
             << ", which cannot be kept for the backward pass; carry tensors "
                "and numbers";
    SmallVector<OpFoldResult> shape = {count};
    if (isa<RankedTensorType>(type))
      llvm::append_range(shape, tensor::getMixedSizes(
                                    builder, loc, loop.getInitArgs()[index]));
    keptArguments.push_back(index);
    inits.push_back(tensor::EmptyOp::create(builder, loc, shape,
                                            getElementTypeOrSelf(type)));
  }

  auto taped = scf::ForOp::create(builder, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  taped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = taped.getBody();
  unsigned numCarried = loop.getNumRegionIterArgs();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  for (auto [old, replacement] :
       llvm::zip(loop.getBody()->getArguments(), body->getArguments()))
    old.replaceAllUsesWith(replacement);
  IRMapping clones;
  clones.map(loop.getBody()->getArguments(),
             body->getArguments().take_front(1 + numCarried));
  for (auto [old, replacement] :
       llvm::zip(loop.getResults(), taped.getResults())) {
    clones.map(old, replacement);
    old.replaceAllUsesWith(replacement);
  }
  linearizer.noteClones(clones);

  Tape result;
  result.primalOps = ::getPrimalOps(*body);
  builder.setInsertionPointToStart(body);
  Value position = createPosition(builder, taped, taped.getInductionVar());
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  for (auto [tapeIndex, index] : llvm::enumerate(keptArguments)) {
    Value tape = taped.getRegionIterArg(numCarried + tapeIndex);
    Value value = taped.getRegionIterArg(index);
    Value extended;
    if (isa<RankedTensorType>(value.getType())) {
      SmallVector<OpFoldResult> offsets, sizes, strides;
      getEntry(builder, loc, tape, position, offsets, sizes, strides);
      extended = tensor::InsertSliceOp::create(builder, loc, value, tape,
                                               offsets, sizes, strides);
    } else {
      extended = tensor::InsertOp::create(builder, loc, value, tape, position);
    }
    yield.getResultsMutable().append(extended);
  }

  result.loop = taped;
  result.kept.resize(numCarried);
  for (auto [tapeIndex, index] : llvm::enumerate(keptArguments))
    result.kept[index] = taped.getResult(numCarried + tapeIndex);
  linearizer.retire(loop);
  return result;
}

void Tape::read(OpBuilder &builder, Value position, IRMapping &mapping) const {
  Location loc = loop->getLoc();
  for (auto [index, tape] : llvm::enumerate(kept)) {
    if (!tape)
      continue;
    scf::ForOp source = loop;
    Value argument = source.getRegionIterArg(index);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      mapping.map(argument,
                  tensor::ExtractOp::create(builder, loc, tape, position));
      continue;
    }
    SmallVector<OpFoldResult> offsets, sizes, strides;
    getEntry(builder, loc, tape, position, offsets, sizes, strides);
    mapping.map(argument,
                tensor::ExtractSliceOp::create(builder, loc, type, tape,
                                               offsets, sizes, strides));
  }
}

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
    FailureOr<Tape> tape = Tape::record(loop, linearizer);
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
    Value one = createConstant(builder, loc, count, 1);
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

//===----------------------------------------------------------------------===//
// scf.if
//===----------------------------------------------------------------------===//

struct IfModel : LinearizableOpInterface::ExternalModel<IfModel, scf::IfOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<scf::IfOp>(operation);
    SmallVector<unsigned> active;
    SmallVector<Type> types;
    for (OpResult result : op.getResults()) {
      if (!linearizer.isActive(result))
        continue;
      active.push_back(result.getResultNumber());
      types.push_back(result.getType());
    }
    // The branches compute their primal values again; in forward mode
    // common-subexpression elimination cannot tell, and need not.
    OpBuilder &builder = linearizer.builder;
    auto tangent =
        scf::IfOp::create(builder, op.getLoc(), types, op.getCondition(),
                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [region, source] :
         llvm::zip(tangent->getRegions(), op->getRegions())) {
      Block &block = region.front();
      if (!block.empty())
        block.getTerminator()->erase();
      builder.setInsertionPointToEnd(&block);
      IRMapping mapping;
      for (Operation *op : getPrimalOps(source.front()))
        builder.clone(*op, mapping);
      Operation *primalYield = source.front().getTerminator();
      auto yield = scf::YieldOp::create(
          builder, op.getLoc(),
          llvm::map_to_vector(primalYield->getOperands(), [&](Value value) {
            return mapping.lookupOrDefault(value);
          }));
      linearizer.noteClones(mapping);
      if (failed(linearizer.linearizeBlock(block)))
        return failure();
      builder.setInsertionPoint(yield);
      yield->setOperands(llvm::map_to_vector(active, [&](unsigned index) {
        return linearizer.tangentOrZero(yield.getOperand(index), op.getLoc());
      }));
    }
    for (auto [position, index] : llvm::enumerate(active))
      linearizer.setTangent(op.getResult(index), tangent.getResult(position));
    return success();
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<scf::IfOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    SmallVector<Value> captured =
        capturedLinearValues(op->getRegions(), transposer);
    if (captured.empty())
      return success();
    SmallVector<Value> seeds =
        llvm::map_to_vector(op.getResults(), [&](OpResult result) {
          return transposer.cotangent(result);
        });
    auto transposed = scf::IfOp::create(
        builder, loc, TypeRange(ValueRange(captured)),
        transposer.primal(op.getCondition()), /*addThenBlock=*/true,
        /*addElseBlock=*/true);
    for (auto [region, source] :
         llvm::zip(transposed->getRegions(), op->getRegions())) {
      Block &block = region.front();
      if (!block.empty())
        block.getTerminator()->erase();
      std::unique_ptr<Transposer> nested = transposer.createNested(
          OpBuilder::atBlockEnd(&block), source.front(), {}, IRMapping());
      Operation *yield = source.front().getTerminator();
      for (auto [operand, seed] : llvm::zip_equal(yield->getOperands(), seeds))
        nested->accumulate(operand, seed);
      if (failed(nested->run()))
        return failure();
      SmallVector<Value> yielded;
      for (Value value : captured) {
        Value cotangent = nested->cotangent(value);
        yielded.push_back(cotangent ? cotangent
                                    : createZero(nested->builder, loc,
                                                 nested->shapeOf(value)));
      }
      scf::YieldOp::create(nested->builder, loc, yielded);
    }
    for (auto [value, result] :
         llvm::zip_equal(captured, transposed.getResults()))
      transposer.accumulate(value, result);
    return success();
  }
};
} // namespace

void sparse_autograd::registerControlFlowDerivativeRules(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    scf::ForOp::attachInterface<ForModel>(*context);
    scf::IfOp::attachInterface<IfModel>(*context);
  });
}
