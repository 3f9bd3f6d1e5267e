//===- GatherRule.cpp - elements read at computed positions ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GatherRule.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

static tensor::ExtractOp getYieldedElement(linalg::LinalgOp op) {
  return op.getBlock()
      ->getTerminator()
      ->getOperand(0)
      .getDefiningOp<tensor::ExtractOp>();
}

bool sparse_autograd::isGatherOf(linalg::LinalgOp op, Value source) {
  if (op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1 ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return false;
  tensor::ExtractOp element = getYieldedElement(op);
  if (!element || element.getTensor() != source)
    return false;
  return llvm::all_of(source.getUses(), [&](OpOperand &use) {
    return !op->getRegion(0).isAncestor(use.getOwner()->getParentRegion()) ||
           use.getOwner() == element;
  });
}

namespace {

/// Loops over the iterations of a gather, outside of it.
class GatherLoops {
public:
  GatherLoops(linalg::LinalgOp op, Transposer &transposer)
      : op(op), transposer(transposer), loc(op.getLoc()),
        resultMap(op.getMatchingIndexingMap(op.getDpsInitOperand(0))) {}

  /// Combines, for each iteration, the element of `init` that it reads with
  /// what `makeElement` gives for its position in the result.
  Value
  scatter(Value init,
          function_ref<Value(OpBuilder &, ValueRange position)> makeElement,
          function_ref<Value(OpBuilder &, Value, Value)> combine);

private:
  SmallVector<Value> apply(OpBuilder &builder, AffineMap map,
                           ValueRange variables) {
    return llvm::to_vector(
        *affine::expandAffineMap(builder, loc, map, variables));
  }
  SmallVector<Value> createIndex(OpBuilder &builder, ValueRange variables);

  linalg::LinalgOp op;
  Transposer &transposer;
  Location loc;
  AffineMap resultMap;
};

} // namespace

/// The position that the iteration `variables` reads.
SmallVector<Value> GatherLoops::createIndex(OpBuilder &builder,
                                            ValueRange variables) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    // No position depends on a tangent.
    if (transposer.isLinear(input->get()))
      continue;
    Value element = transposer.primal(input->get());
    if (isa<RankedTensorType>(element.getType()))
      element = tensor::ExtractOp::create(
          builder, loc, element,
          apply(builder, op.getMatchingIndexingMap(input), variables));
    mapping.map(Value(op.getMatchingBlockArgument(input)), element);
  }
  for (Value value : getCapturedValues(op->getRegions()))
    if (!transposer.isLinear(value))
      mapping.map(value, transposer.primal(value));
  tensor::ExtractOp element = getYieldedElement(op);
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (&inner == element)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), variables[index.getDim()]);
    else
      builder.clone(inner, mapping);
  }
  return llvm::map_to_vector(element.getIndices(), [&](Value index) {
    return mapping.lookupOrDefault(index);
  });
}

Value GatherLoops::scatter(
    Value init, function_ref<Value(OpBuilder &, ValueRange)> makeElement,
    function_ref<Value(OpBuilder &, Value, Value)> combine) {
  OpBuilder &builder = transposer.builder;
  Value cotangent = transposer.unroundedCotangent(op->getResult(0));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  SmallVector<Value> ends(op.getNumLoops());
  for (auto [dim, expr] : llvm::enumerate(resultMap.getResults()))
    ends[cast<AffineDimExpr>(expr).getPosition()] =
        getValueOrCreateConstantIndexOp(
            builder, loc, tensor::getMixedSize(builder, loc, cotangent, dim));
  SmallVector<Value> begins(ends.size(), zero), steps(ends.size(), one);
  auto body = [&](OpBuilder &nested, Location, ValueRange variables,
                  ValueRange carried) -> scf::ValueVector {
    SmallVector<Value> index = createIndex(nested, variables);
    Value added = makeElement(nested, apply(nested, resultMap, variables));
    Value known =
        tensor::ExtractOp::create(nested, loc, carried.front(), index);
    return {tensor::InsertOp::create(nested, loc, combine(nested, known, added),
                                     carried.front(), index)};
  };
  // A gather of one element has no loops.
  if (ends.empty())
    return body(builder, loc, {}, init).front();
  return scf::buildLoopNest(builder, loc, begins, ends, steps, init, body)
      .results.front();
}

void sparse_autograd::transposeGather(linalg::LinalgOp op, Value source,
                                      Transposer &transposer) {
  OpBuilder &builder = transposer.builder;
  Location loc = op.getLoc();
  Value cotangent = transposer.unroundedCotangent(op->getResult(0));
  Support support = transposer.support(op->getResult(0));
  Value shape = transposer.shapeOf(source);
  GatherLoops loops(op, transposer);

  Type sumType = getAccumulationType(getElementTypeOrSelf(source.getType()));
  auto createFilled = [&](TypedAttr element) -> Value {
    Value empty = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, shape),
        element.getType());
    Value scalar = arith::ConstantOp::create(builder, loc, element);
    return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
  };
  Value sum = loops.scatter(
      createFilled(builder.getFloatAttr(sumType, 0)),
      [&](OpBuilder &nested, ValueRange position) -> Value {
        Value element =
            tensor::ExtractOp::create(nested, loc, cotangent, position);
        return createFloatCast(nested, loc, element, sumType);
      },
      [&](OpBuilder &nested, Value known, Value added) -> Value {
        return arith::AddFOp::create(nested, loc, known, added);
      });

  // What is not read is reached no more than what a mask leaves out.
  Value mask;
  if (support)
    mask = materializeMask(builder, loc, support, cotangent);
  Value reached = loops.scatter(
      createFilled(builder.getBoolAttr(false)),
      [&](OpBuilder &nested, ValueRange position) -> Value {
        if (mask)
          return tensor::ExtractOp::create(nested, loc, mask, position);
        return arith::ConstantOp::create(nested, loc, nested.getBoolAttr(true));
      },
      [&](OpBuilder &nested, Value known, Value added) -> Value {
        return arith::OrIOp::create(nested, loc, known, added);
      });
  transposer.accumulate(source, sum, Support::of(reached),
                        /*isSelected=*/true);
}
