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
#include "mlir/Interfaces/LoopLikeInterface.h"

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

namespace {
/// An extent that is known outside of an op: `size`, or the extent `dim` of
/// `tensor`.
struct OuterExtent {
  Value size = {}, tensor = {};
  int64_t dim = 0;
};
} // namespace

static bool isOutside(Operation *scope, Value value) {
  return !scope->isAncestor(value.getParentBlock()->getParentOp());
}

static std::optional<OuterExtent> findOuterExtent(Operation *scope,
                                                  Value tensor, int64_t dim) {
  while (tensor) {
    if (isOutside(scope, tensor))
      return OuterExtent{{}, tensor, dim};
    if (auto argument = dyn_cast<BlockArgument>(tensor)) {
      auto loop =
          dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
      tensor = init ? init->get() : Value();
      continue;
    }
    auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
    if (!empty) {
      tensor = getOperandOfSameShape(tensor);
      continue;
    }
    if (!empty.getType().isDynamicDim(dim))
      return std::nullopt;
    Value size = empty.getDynamicSize(dim);
    if (isOutside(scope, size))
      return OuterExtent{size};
    auto asked = size.getDefiningOp<tensor::DimOp>();
    if (!asked || !asked.getConstantIndex())
      return std::nullopt;
    tensor = asked.getSource();
    dim = *asked.getConstantIndex();
  }
  return std::nullopt;
}

bool sparse_autograd::hasOuterShape(Operation *scope, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return !isa<ShapedType>(value.getType());
  return llvm::all_of(llvm::seq(type.getRank()), [&](int64_t dim) {
    return !type.isDynamicDim(dim) || findOuterExtent(scope, value, dim);
  });
}

SmallVector<OpFoldResult> sparse_autograd::getOuterShape(OpBuilder &builder,
                                                         Operation *scope,
                                                         Value value) {
  SmallVector<OpFoldResult> shape;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim)) {
      shape.push_back(builder.getIndexAttr(type.getDimSize(dim)));
      continue;
    }
    std::optional<OuterExtent> extent = findOuterExtent(scope, value, dim);
    shape.push_back(extent->size
                        ? OpFoldResult(extent->size)
                        : tensor::getMixedSize(builder, scope->getLoc(),
                                               extent->tensor, extent->dim));
  }
  return shape;
}
