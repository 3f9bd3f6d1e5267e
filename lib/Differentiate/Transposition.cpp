//===- Transposition.cpp - the transpose of a linear program --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transposition.h"
#include "CotangentMarks.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// What is linear
//===----------------------------------------------------------------------===//

bool BlockTransposer::isLinear(Value value) const {
  return linear.contains(value) || (parent && parent->isLinear(value));
}

bool BlockTransposer::isLinearOp(Operation *op) const {
  bool found = false;
  forEachReadValue(op, [&](Value value) { found |= isLinear(value); });
  return found;
}

void BlockTransposer::findLinearOps(Block &block, ValueRange inputs) {
  linear.insert_range(inputs);
  for (Operation &op : block.without_terminator()) {
    if (!isLinearOp(&op))
      continue;
    linearOps.push_back(&op);
    for (Value result : op.getResults())
      if (isDifferentiableType(result.getType()))
        linear.insert(result);
  }
}

BlockTransposer::BlockTransposer(OpBuilder builder, Block &block,
                                 ValueRange inputs,
                                 const Linearizer &linearizer)
    : Transposer(builder), linearizer(linearizer) {
  findLinearOps(block, inputs);
}

BlockTransposer::BlockTransposer(OpBuilder builder, Block &block,
                                 ValueRange inputs, IRMapping mapping,
                                 const BlockTransposer &parent)
    : Transposer(builder), linearizer(parent.linearizer), parent(&parent),
      mapping(std::move(mapping)) {
  findLinearOps(block, inputs);
  llvm::SmallPtrSet<Operation *, 16> skipped(linearOps.begin(),
                                             linearOps.end());
  for (Operation &op : block.without_terminator())
    if (!skipped.contains(&op))
      cloneNonlinearOp(&op);
}

void BlockTransposer::cloneNonlinearOp(Operation *op) {
  // Primal ops with effects ran in the primal program; once is enough.
  if (op->getNumResults() == 0 && !isMemoryEffectFree(op))
    return;
  forEachReadValue(op, [&](Value value) {
    if (!mapping.contains(value))
      if (Value counterpart = primal(value); counterpart != value)
        mapping.map(value, counterpart);
  });
  builder.clone(*op, mapping);
}

Value BlockTransposer::primal(Value value) const {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  return parent ? parent->primal(value) : value;
}

std::unique_ptr<Transposer> BlockTransposer::createNested(OpBuilder builder,
                                                          Block &block,
                                                          ValueRange inputs,
                                                          IRMapping mapping) {
  return std::unique_ptr<Transposer>(
      new BlockTransposer(builder, block, inputs, std::move(mapping), *this));
}

//===----------------------------------------------------------------------===//
// Cotangents
//===----------------------------------------------------------------------===//

Value BlockTransposer::selected(Cotangent &cotangent) {
  if (!cotangent.isSelected) {
    cotangent.value = selectUnder(builder, cotangent.value.getLoc(),
                                  cotangent.value, cotangent.support);
    cotangent.rounded = {};
    markCotangent(cotangent.value);
    cotangent.isSelected = true;
  }
  return cotangent.value;
}

Value BlockTransposer::unroundedCotangent(Value value) {
  auto it = cotangents.find(value);
  return it == cotangents.end() ? Value() : selected(it->second);
}

Value BlockTransposer::cotangent(Value value) {
  Value unrounded = unroundedCotangent(value);
  Type elementType = getElementTypeOrSelf(value.getType());
  if (!unrounded || getElementTypeOrSelf(unrounded.getType()) == elementType)
    return unrounded;
  Value &rounded = cotangents.find(value)->second.rounded;
  if (!rounded) {
    rounded =
        createFloatCast(builder, unrounded.getLoc(), unrounded, elementType);
    markCotangent(rounded);
  }
  return rounded;
}

Support BlockTransposer::support(Value value) const {
  auto it = cotangents.find(value);
  return it == cotangents.end() ? Support() : it->second.support;
}

Value BlockTransposer::sum(Value value, Value a, Value b) {
  Location loc = b.getLoc();
  Type type = getAccumulationType(getElementTypeOrSelf(value.getType()));
  a = createFloatCast(builder, loc, a, type);
  b = createFloatCast(builder, loc, b, type);
  // Sparse cotangents have the pattern of what they belong to, unless that is
  // dense: then each has its own.
  Value shape = linearizer.shapeOf(value);
  if (isSparse(value.getType()) && shape && !isSparse(shape.getType()))
    return AccumulateOp::create(
        builder, loc, cast<RankedTensorType>(value.getType()).clone(type),
        ValueRange{a, b});
  Value both = createSum(builder, loc, a, b);
  markCotangent(both);
  return both;
}

void BlockTransposer::accumulate(Value value, Value contribution,
                                 const Support &support, bool isSelected) {
  // A tangent that does not depend on the inputs has nobody to tell.
  if (!contribution || !isLinear(value))
    return;
  markCotangent(contribution);
  Cotangent added{contribution, support, isSelected || !support};
  auto start = starts.find(value);
  auto [it, isFirst] = cotangents.try_emplace(
      value, start != starts.end() ? start->second : added);
  if (isFirst && start == starts.end())
    return;
  Location loc = contribution.getLoc();
  Cotangent &known = it->second;
  known.rounded = {};
  if (known.support == support) {
    known.value = sum(value, known.value, contribution);
    known.isSelected &= added.isSelected;
    return;
  }
  Support united =
      uniteSupports(builder, loc, contribution, known.support, support);
  known.value = sum(value, selected(known), selected(added));
  known.support = united;
  known.isSelected = true;
}

void BlockTransposer::startFrom(Value value, Value start,
                                const Support &support) {
  starts[value] = Cotangent{start, support, /*isSelected=*/true};
}

Value BlockTransposer::current(Value value) {
  if (Value known = unroundedCotangent(value))
    return known;
  return starts.lookup(value).value;
}

Support BlockTransposer::currentSupport(Value value) const {
  auto known = cotangents.find(value);
  return known != cotangents.end() ? known->second.support
                                   : starts.lookup(value).support;
}

void BlockTransposer::replaceCurrent(Value value, Value cotangent,
                                     const Support &support) {
  if (isLinear(value))
    cotangents[value] = Cotangent{cotangent, support, /*isSelected=*/true};
}

Value BlockTransposer::shapeOf(Value value) {
  for (const BlockTransposer *scope = this; scope; scope = scope->parent)
    if (Value mapped = scope->mapping.lookupOrNull(value))
      return mapped;
  if (Value known = linearizer.shapeOf(value)) {
    // A dense tangent of a sparse value has its shape, not its pattern.
    Value shape = primal(known);
    return isSparse(value.getType())
               ? shape
               : createDenseLike(builder, value.getLoc(), shape);
  }
  // Of a scalar there is only the type to read.
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  // A linear value goes once it is transposed. If its extents are known, an
  // empty tensor has them as well.
  if (type.hasStaticShape() && !isSparse(type) && isLinear(value))
    return tensor::EmptyOp::create(builder, value.getLoc(), type.getShape(),
                                   type.getElementType());
  return primal(value);
}

LogicalResult BlockTransposer::run() {
  for (Operation *op : llvm::reverse(linearOps)) {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return cotangents.contains(result);
        }))
      continue;
    auto differentiable = dyn_cast<LinearizableOpInterface>(op);
    if (!differentiable)
      return reportNotTransposable(op);
    if (failed(differentiable.transpose(*this)))
      return failure();
  }
  return success();
}
