//===- ShapeOrigin.cpp - where the extents of a tensor come from ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
  if (!isElementwise(op))
    return nullptr;
  // One of two tensors as a whole may have the extents of either.
  if (choosesTensor(op))
    return nullptr;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      return operand;
  return nullptr;
}

bool sparse_autograd::choosesTensor(Operation *op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  return select && isa<RankedTensorType>(select.getType()) &&
         !isa<ShapedType>(select.getCondition().getType());
}

namespace {
/// An extent of a tensor, for instance one that is known outside of an op:
/// `size`, or the extent `dim` of `tensor`.
struct KnownExtent {
  Value size = {}, tensor = {};
  int64_t dim = 0;

  bool operator==(const KnownExtent &other) const {
    return size == other.size && tensor == other.tensor && dim == other.dim;
  }
};
} // namespace

/// Where the extent `dim` of `tensor` comes from, as far as ops say, or the
/// first tensor on the way whose type says the extent.
static KnownExtent findOrigin(Value tensor, int64_t dim,
                              bool isTypeEnough = false) {
  while (true) {
    if (isTypeEnough &&
        !cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim))
      return {{}, tensor, dim};
    if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
        empty && empty.getType().isDynamicDim(dim)) {
      Value size = empty.getDynamicSize(dim);
      auto asked = size.getDefiningOp<tensor::DimOp>();
      if (!asked || !asked.getConstantIndex())
        return {size};
      tensor = asked.getSource();
      dim = *asked.getConstantIndex();
      continue;
    }
    Value next = getOperandOfSameShape(tensor);
    auto loop = tensor.getDefiningOp<scf::ForOp>();
    if (loop && keepsExtent(loop, cast<OpResult>(tensor), dim))
      next = loop.getTiedLoopInit(cast<OpResult>(tensor))->get();
    if (!next)
      return {{}, tensor, dim};
    tensor = next;
  }
}

std::optional<int64_t> sparse_autograd::getConstantExtent(Value tensor,
                                                          int64_t dim) {
  KnownExtent origin = findOrigin(tensor, dim, /*isTypeEnough=*/true);
  if (origin.size)
    return getConstantIntValue(origin.size);
  auto type = cast<RankedTensorType>(origin.tensor.getType());
  if (type.isDynamicDim(origin.dim))
    return std::nullopt;
  return type.getDimSize(origin.dim);
}

bool sparse_autograd::keepsExtent(scf::ForOp loop, OpResult result,
                                  int64_t dim) {
  BlockArgument argument = loop.getTiedLoopRegionIterArg(result);
  Value yielded = loop.getTiedLoopYieldedValue(argument)->get();
  return findOrigin(yielded, dim) == KnownExtent{{}, argument, dim};
}

bool sparse_autograd::haveSameShape(Value a, Value b) {
  auto type = cast<RankedTensorType>(a.getType());
  auto otherType = cast<RankedTensorType>(b.getType());
  return type.getShape() == otherType.getShape() &&
         llvm::all_of(llvm::seq(type.getRank()), [&](int64_t dim) {
           return !type.isDynamicDim(dim) ||
                  findOrigin(a, dim) == findOrigin(b, dim);
         });
}

bool sparse_autograd::isSliceAtEnd(ArrayRef<OpFoldResult> offsets,
                                   Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return false;
  for (auto [offset, extent] : llvm::zip_equal(offsets, type.getShape())) {
    std::optional<int64_t> begin = getConstantIntValue(offset);
    if (begin && !ShapedType::isDynamic(extent) && *begin >= extent)
      return true;
  }
  auto castOp = tensor.getDefiningOp<tensor::CastOp>();
  return castOp && isSliceAtEnd(offsets, castOp.getSource());
}

static bool isOutside(Operation *scope, Value value) {
  return !scope->isAncestor(value.getParentBlock()->getParentOp());
}

static std::optional<KnownExtent> findOuterExtent(Operation *scope,
                                                  Value tensor, int64_t dim) {
  while (tensor) {
    if (isOutside(scope, tensor))
      return KnownExtent{{}, tensor, dim};
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
      return KnownExtent{size};
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
    std::optional<KnownExtent> extent = findOuterExtent(scope, value, dim);
    shape.push_back(extent->size
                        ? OpFoldResult(extent->size)
                        : tensor::getMixedSize(builder, scope->getLoc(),
                                               extent->tensor, extent->dim));
  }
  return shape;
}
