//===- StructuredBuilders.cpp - dense and sparse alike --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::createEmptyLike(OpBuilder &builder, Location loc,
                                       Value like, Type elementType) {
  if (isSparse(like.getType()))
    return createZeros(builder, loc, like, elementType);
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), elementType);
}

Value sparse_autograd::createZeros(OpBuilder &builder, Location loc, Value like,
                                   Type elementType) {
  if (isSparse(like.getType()))
    return ZerosOp::create(
        builder, loc, cast<RankedTensorType>(like.getType()).clone(elementType),
        like);
  Value empty = createEmptyLike(builder, loc, like, elementType);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(elementType));
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

linalg::LinalgOp sparse_autograd::createStructured(
    OpBuilder &builder, Location loc, ValueRange inputs, Value init,
    ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
    llvm::function_ref<void(OpBuilder &, Location, ValueRange)> buildBody) {
  Operation *op;
  if (isSparse(init.getType()))
    op = SampledGenericOp::create(builder, loc, inputs, init, maps, iterators,
                                  buildBody);
  else
    op = linalg::GenericOp::create(builder, loc, init.getType(), inputs, init,
                                   maps, iterators, buildBody);
  return cast<linalg::LinalgOp>(op);
}

Value sparse_autograd::createCopyLike(OpBuilder &builder, Location loc,
                                      Value value, Value like) {
  auto type = cast<RankedTensorType>(value.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return createStructured(
             builder, loc, value,
             createEmptyLike(builder, loc, like, type.getElementType()),
             {identity, identity}, iterators,
             [](OpBuilder &nested, Location loc, ValueRange elements) {
               linalg::YieldOp::create(nested, loc, elements.front());
             })
      ->getResult(0);
}
