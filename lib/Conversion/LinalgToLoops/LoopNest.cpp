//===- LoopNest.cpp - the loops of one linalg op ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sparse_autograd {

LoopNest::LoopNest(linalg::LinalgOp op, ArrayRef<unsigned> order,
                   OpBuilder &builder)
    : op(op), order(order) {
  for (Range range : op.createLoopRanges(builder, op.getLoc())) {
    extents.push_back(range.size);
    begins.push_back(range.offset);
    ends.push_back(range.size);
  }
  inductionVariables.resize(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    Operand description;
    description.buffer = operand.get();
    description.map = op.getMatchingIndexingMap(&operand);
    description.argument = op.getMatchingBlockArgument(&operand);
    description.depth = getDepth(description.map);
    (op.isDpsInit(&operand) ? outputs : inputs).push_back(description);
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
      loaded.push_back(&output);
    }
    if (output.depth <= level)
      carried.push_back(&output);
  }

  SmallVector<Value> initial;
  for (Operand *output : carried)
    initial.push_back(output->element);
  unsigned dimension = order[level];
  auto loop = scf::ForOp::create(
      builder, loc,
      getValueOrCreateConstantIndexOp(builder, loc, begins[dimension]),
      getValueOrCreateConstantIndexOp(builder, loc, ends[dimension]),
      arith::ConstantIndexOp::create(builder, loc, 1), initial);
  {
    OpBuilder::InsertionGuard guard(builder);
    // Without carried values the loop comes with its terminator.
    builder.setInsertionPointToStart(loop.getBody());
    inductionVariables[dimension] = loop.getInductionVar();
    for (auto [output, argument] :
         llvm::zip_equal(carried, loop.getRegionIterArgs()))
      output->element = argument;
    emitLoop(level + 1, builder);
    inductionVariables[dimension] = nullptr;
    if (!carried.empty()) {
      SmallVector<Value> next;
      for (Operand *output : carried)
        next.push_back(output->element);
      scf::YieldOp::create(builder, loc, next);
    }
  }
  for (auto [output, result] : llvm::zip_equal(carried, loop.getResults()))
    output->element = result;
  for (Operand *output : loaded)
    memref::StoreOp::create(builder, loc, output->element, output->buffer,
                            getIndices(*output, builder));
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
