//===- CotangentMarks.cpp - which ops make cotangents ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CotangentMarks.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

using namespace mlir;
using namespace sparse_autograd;

static constexpr StringLiteral markName =
    SparseAutogradDialect::getCotangentAttrName();

void sparse_autograd::markCotangent(Value value) {
  Operation *op = value.getDefiningOp();
  Type type = value.getType();
  if (op && op->getNumResults() == 1 && !isSparse(type) &&
      isa<FloatType, RankedTensorType>(type))
    op->setDiscardableAttr(markName, UnitAttr::get(op->getContext()));
}

bool sparse_autograd::isMarkedCotangent(Operation *op) {
  return op->hasAttr(markName);
}

bool sparse_autograd::isKnownCotangent(Value value) {
  // What is computed again waits for its cotangent at a barrier.
  if (auto barrier = value.getDefiningOp<BarrierOp>())
    return isKnownCotangent(
        barrier.getInputs()[cast<OpResult>(value).getResultNumber()]);
  if (Operation *op = value.getDefiningOp())
    return isMarkedCotangent(op);
  auto argument = cast<BlockArgument>(value);
  auto function =
      dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp());
  return function && argument.getArgNumber() >= function.getNumArguments();
}

void sparse_autograd::dropCotangentMarks(func::FuncOp derivative) {
  derivative.walk([](Operation *op) { op->removeDiscardableAttr(markName); });
}
