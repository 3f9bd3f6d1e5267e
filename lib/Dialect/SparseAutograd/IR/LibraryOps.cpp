//===- LibraryOps.cpp - offers to a library of the device -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/LibraryOps.h"

using namespace mlir;
using namespace sparse_autograd;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Buffers are read, and the destination is written; tensors are values.
static void getEffectsOfOffer(DestinationStyleOpInterface op,
                              bool readsDestination, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isDestination = op.isDpsInit(&operand);
    if (isDestination)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    if (!isDestination || readsDestination)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

template <typename OpTy>
static LogicalResult verifyOffer(OpTy op) {
  if (getElementTypeOrSelf(op.getPositions()) !=
      getElementTypeOrSelf(op.getCoordinates()))
    return op.emitOpError("must have positions and coordinates of one type");
  Type element = getElementTypeOrSelf(op.getValues());
  if (getElementTypeOrSelf(op.getX()) != element ||
      getElementTypeOrSelf(op.getY()) != element)
    return op.emitOpError("must have values and matrices of one type");
  return success();
}

LogicalResult OfferProductOp::verify() {
  if (getXTransposed())
    return emitOpError("writes to rows; its result is not transposed");
  return verifyOffer(*this);
}

LogicalResult OfferSampledProductOp::verify() { return verifyOffer(*this); }

void OfferProductOp::getEffects(Effects &effects) {
  getEffectsOfOffer(*this, getAccumulates(), effects);
}

void OfferSampledProductOp::getEffects(Effects &effects) {
  getEffectsOfOffer(*this, getAccumulates(), effects);
}

#define GET_OP_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradLibraryOps.cpp.inc"
