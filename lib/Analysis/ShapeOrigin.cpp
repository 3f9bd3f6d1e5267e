//===- ShapeOrigin.cpp - where the extents of a tensor come from ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::getOperandOfSameShape(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || !isa<RankedTensorType>(value.getType()))
    return nullptr;
  Operation *op = result.getOwner();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.getTiedOpOperand(result)->get();
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType()) ? cast.getSource()
                                                             : Value();
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return nullptr;
  // The condition of a select may be a scalar.
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      return operand;
  return nullptr;
}
