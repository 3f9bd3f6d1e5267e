//===- ProductElement.cpp - an element of a contraction -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductElement.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace sparse_autograd;

int64_t sparse_autograd::getElementIndices(linalg::LinalgOp op,
                                           OpOperand *operand, unsigned term,
                                           ArrayRef<Value> variables,
                                           SmallVectorImpl<Value> &indices) {
  int64_t dim = -1;
  AffineMap map = op.getMatchingIndexingMap(operand);
  for (auto [number, expression] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expression).getPosition();
    if (loop == term)
      dim = number;
    else
      indices.push_back(variables[loop]);
  }
  return dim;
}

Value sparse_autograd::createProductElement(
    OpBuilder &builder, const Contraction &contraction, Value init,
    function_ref<Value(Value begin)> createSum,
    function_ref<Value(OpOperand *weight)> load) {
  linalg::LinalgOp op = contraction.op;
  Location loc = op.getLoc();
  Type type = contraction.sumType;
  // A scale is one of the sum, as that of a BLAS is, and so are weights.
  bool isPlain = !contraction.scale && !contraction.isDifference &&
                 contraction.weights.empty();
  Value begin = init;
  if (!isPlain)
    begin = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value total = createSum(begin);
  if (contraction.scale)
    total = arith::MulFOp::create(builder, loc, contraction.scale, total);
  for (OpOperand *weight : contraction.weights)
    total = arith::MulFOp::create(
        builder, loc, total, createFloatCast(builder, loc, load(weight), type));
  if (contraction.isDifference)
    return arith::SubFOp::create(builder, loc, init, total);
  if (!isPlain)
    return arith::AddFOp::create(builder, loc, init, total);
  return total;
}
