//===- LoopNest.cpp - the loops of one linalg op ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "../OrderedKey.h"
#include "Combiner.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sparse_autograd {

LoopNest::LoopNest(linalg::LinalgOp op, ArrayRef<unsigned> order,
                   OpBuilder &builder, bool isForVectors)
    : op(op), order(order) {
  for (Range range : op.createLoopRanges(builder, op.getLoc())) {
    extents.push_back(range.size);
    begins.push_back(range.offset);
    ends.push_back(range.size);
  }
  inductionVariables.resize(op.getNumLoops());
  fixedIndices.resize(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    Operand description;
    description.buffer = operand.get();
    description.map = op.getMatchingIndexingMap(&operand);
    description.argument = op.getMatchingBlockArgument(&operand);
    description.depth = getDepth(description.map);
    if (!op.isDpsInit(&operand)) {
      inputs.push_back(description);
      continue;
    }
    if (isForVectors)
      chooseForm(description, outputs.size());
    outputs.push_back(description);
  }
}

void LoopNest::chooseForm(Operand &output, unsigned number) {
  Operation *combiner = getCombiner(op, number);
  if (!combiner || output.depth == order.size())
    return;
  output.combiner = combiner;
  output.combined =
      combiner->getOperand(combiner->getOperand(0) == output.argument ? 1 : 0);
  if (isExtremum(combiner)) {
    output.form = Form::Key;
    return;
  }
  auto extension = output.combined.getDefiningOp<arith::ExtUIOp>();
  if (isa<arith::AddIOp>(combiner) && extension &&
      extension.getIn().getType().isInteger(1) &&
      extension.getType().isInteger(64)) {
    output.form = Form::Count;
    output.combined = extension.getIn();
  }
}

unsigned LoopNest::getDepth(AffineMap map) const {
  for (unsigned depth = order.size(); depth > 0; --depth)
    if (map.isFunctionOfDim(order[depth - 1]))
      return depth;
  return 0;
}

void LoopNest::setRange(unsigned dimension, Value begin, Value end) {
  begins[dimension] = begin;
  ends[dimension] = end;
}

void LoopNest::setIndex(unsigned dimension, Value index) {
  fixedIndices[dimension] = index;
}

void LoopNest::setParallel(unsigned dimension) {
  parallelDimension = dimension;
}

void LoopNest::setOutput(unsigned output, Value buffer) {
  outputs[output].buffer = buffer;
}

SmallVector<Value> LoopNest::getIndices(const Operand &operand,
                                        OpBuilder &builder) {
  // A loop that does not index the operand may not have been entered yet.
  SmallVector<OpFoldResult> variables;
  for (Value variable : inductionVariables)
    variables.push_back(variable ? OpFoldResult(variable)
                                 : OpFoldResult(builder.getIndexAttr(0)));
  SmallVector<Value> indices;
  for (AffineExpr expression : operand.map.getResults()) {
    OpFoldResult index = affine::makeComposedFoldedAffineApply(
        builder, op.getLoc(),
        AffineMap::get(operand.map.getNumDims(), 0, expression), variables);
    indices.push_back(
        getValueOrCreateConstantIndexOp(builder, op.getLoc(), index));
  }
  return indices;
}

void LoopNest::loadElement(Operand &operand, OpBuilder &builder) {
  if (!isa<MemRefType>(operand.buffer.getType())) {
    operand.element = operand.buffer;
    return;
  }
  operand.element = memref::LoadOp::create(builder, op.getLoc(), operand.buffer,
                                           getIndices(operand, builder));
}

void LoopNest::emit(OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  emitLoop(0, builder);
}

void LoopNest::emitLoop(unsigned level, OpBuilder &builder) {
  Location loc = op.getLoc();
  // What the loops from here on do not index is loaded before them: they cannot
  // write to it (see the pass's description), which LLVM could not know.
  for (Operand &input : inputs)
    if (input.depth == level && !input.argument.use_empty())
      loadElement(input, builder);
  if (level == order.size())
    return emitBody(builder);

  SmallVector<Operand *> loaded, carried;
  for (Operand &output : outputs) {
    if (output.depth == level) {
      loadElement(output, builder);
      if (output.form == Form::Key)
        output.element =
            encodeKey(builder, loc, output.combiner, output.element);
      loaded.push_back(&output);
    }
    if (output.depth <= level)
      carried.push_back(&output);
  }
  unsigned dimension = order[level];
  Value begin =
      getValueOrCreateConstantIndexOp(builder, loc, begins[dimension]);
  Value end = getValueOrCreateConstantIndexOp(builder, loc, ends[dimension]);
  if (Value index = fixedIndices[dimension]) {
    inductionVariables[dimension] = index;
    emitLoop(level + 1, builder);
    inductionVariables[dimension] = nullptr;
  } else if (level + 1 == order.size() &&
             llvm::any_of(carried, [](Operand *output) {
               return output->form == Form::Count;
             })) {
    emitCountingLoop(begin, end, carried, builder);
  } else {
    emitRange(level, begin, end, carried, builder);
  }
  for (Operand *output : loaded) {
    if (output->form == Form::Key)
      output->element =
          decodeKey(builder, loc, output->combiner, output->element);
    memref::StoreOp::create(builder, loc, output->element, output->buffer,
                            getIndices(*output, builder));
  }
}

/// A loop that carries the elements of `carried`, which it leaves at their last
/// values.
static scf::ForOp emitFor(OpBuilder &builder, Location loc, Value begin,
                          Value end, int64_t step, ArrayRef<Value *> carried,
                          function_ref<void(Value)> body) {
  SmallVector<Value> initial;
  for (Value *element : carried)
    initial.push_back(*element);
  auto loop = scf::ForOp::create(
      builder, loc, begin, end,
      arith::ConstantIndexOp::create(builder, loc, step), initial);
  {
    OpBuilder::InsertionGuard guard(builder);
    // Without carried values the loop comes with its terminator.
    builder.setInsertionPointToStart(loop.getBody());
    for (auto [element, argument] :
         llvm::zip_equal(carried, loop.getRegionIterArgs()))
      *element = argument;
    body(loop.getInductionVar());
    if (!carried.empty()) {
      SmallVector<Value> next;
      for (Value *element : carried)
        next.push_back(*element);
      scf::YieldOp::create(builder, loc, next);
    }
  }
  for (auto [element, result] : llvm::zip_equal(carried, loop.getResults()))
    *element = result;
  return loop;
}

static SmallVector<Value *>
getElements(ArrayRef<LoopNest::Operand *> operands) {
  return llvm::map_to_vector(
      operands, [](LoopNest::Operand *operand) { return &operand->element; });
}

void LoopNest::emitRange(unsigned level, Value begin, Value end,
                         ArrayRef<Operand *> carried, OpBuilder &builder) {
  unsigned dimension = order[level];
  auto loop = emitFor(builder, op.getLoc(), begin, end, 1, getElements(carried),
                      [&](Value variable) {
                        inductionVariables[dimension] = variable;
                        emitLoop(level + 1, builder);
                        inductionVariables[dimension] = nullptr;
                      });
  if (dimension == parallelDimension)
    sparse_autograd::setParallel(loop);
}

void LoopNest::emitCountingLoop(Value begin, Value end,
                                ArrayRef<Operand *> carried,
                                OpBuilder &builder) {
  Location loc = op.getLoc();
  unsigned level = order.size() - 1;
  auto emitStrip = [&](Value stripBegin, Value stripEnd) {
    SmallVector<std::pair<Operand *, Value>> counts;
    for (Operand *output : carried)
      if (output->form == Form::Count) {
        counts.emplace_back(output, output->element);
        output->element = arith::ConstantIntOp::create(builder, loc, 0, 32);
      }
    emitRange(level, stripBegin, stripEnd, carried, builder);
    for (auto [output, before] : counts) {
      Value counted = arith::ExtUIOp::create(builder, loc, before.getType(),
                                             output->element);
      output->element = arith::AddIOp::create(builder, loc, before, counted);
    }
  };

  // As many as an i32 counts.
  constexpr int64_t strip = int64_t(1) << 31;
  std::optional<int64_t> extent = getConstantIntValue(extents[order[level]]);
  if (extent && *extent <= strip)
    return emitStrip(begin, end);
  emitFor(builder, loc, begin, end, strip, getElements(carried),
          [&](Value stripBegin) {
            Value length = arith::ConstantIndexOp::create(builder, loc, strip);
            Value stripEnd = arith::MinSIOp::create(
                builder, loc,
                arith::AddIOp::create(builder, loc, stripBegin, length), end);
            emitStrip(stripBegin, stripEnd);
          });
}

/// The combiner of `output` applied to the form that it is carried in, and the
/// body's other value.
static Value emitCombiner(const LoopNest::Operand &output, Value other,
                          OpBuilder &builder) {
  Operation *combiner = output.combiner;
  Location loc = combiner->getLoc();
  if (output.form == LoopNest::Form::Key)
    return combineKeys(builder, loc, combiner, output.element,
                       encodeKey(builder, loc, combiner, other));
  Value one = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), other);
  return arith::AddIOp::create(builder, loc, output.element, one);
}

void LoopNest::emitBody(OpBuilder &builder) {
  Location loc = op.getLoc();
  IRMapping mapping;
  auto map = [&](Operand &operand) {
    if (!operand.argument.use_empty())
      mapping.map(operand.argument, operand.element);
  };
  for (Operand &input : inputs)
    map(input);
  for (Operand &output : outputs) {
    if (output.depth == order.size() && !output.argument.use_empty())
      loadElement(output, builder);
    map(output);
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), inductionVariables[index.getDim()]);
      continue;
    }
    Operand *output = llvm::find_if(outputs, [&](const Operand &candidate) {
      return candidate.form != Form::Plain && candidate.combiner == &inner;
    });
    if (output != outputs.end()) {
      Value other = mapping.lookupOrDefault(output->combined);
      mapping.map(inner.getResult(0), emitCombiner(*output, other, builder));
      continue;
    }
    Operation *clone = builder.clone(inner, mapping);
    clone->walk([&](linalg::IndexOp index) {
      index.replaceAllUsesWith(inductionVariables[index.getDim()]);
      index.erase();
    });
  }
  for (auto [output, yielded] : llvm::zip_equal(
           outputs, op.getBlock()->getTerminator()->getOperands())) {
    output.element = mapping.lookupOrDefault(yielded);
    if (output.depth == order.size())
      memref::StoreOp::create(builder, loc, output.element, output.buffer,
                              getIndices(output, builder));
  }
}

} // namespace sparse_autograd
