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

Value sparse_autograd::createEmptyOfType(OpBuilder &builder, Location loc,
                                         RankedTensorType type, Value like) {
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like),
      type.getElementType(), type.getEncoding());
  return empty.getType() == type
             ? empty
             : tensor::CastOp::create(builder, loc, type, empty).getResult();
}

Value sparse_autograd::createDenseLike(OpBuilder &builder, Location loc,
                                       Value like) {
  if (!isSparse(like.getType()))
    return like;
  return tensor::EmptyOp::create(builder, loc,
                                 tensor::getMixedSizes(builder, loc, like),
                                 getElementTypeOrSelf(like.getType()));
}

Value sparse_autograd::createGather(OpBuilder &builder, Location loc,
                                    Value table, Value indices, Value like,
                                    RankedTensorType type) {
  int64_t rank = type.getRank();
  int64_t indexRank = cast<RankedTensorType>(indices.getType()).getRank();
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(
          dim < indexRank
              ? tensor::DimOp::create(builder, loc, indices, dim)
              : tensor::DimOp::create(builder, loc, like, dim - indexRank + 1));
  Value init = tensor::EmptyOp::create(builder, loc, type, extents);
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  AffineMap ofIndex =
      AffineMap::get(rank, 0, identity.getResults().take_front(indexRank),
                     builder.getContext());
  return linalg::GenericOp::create(
             builder, loc, type, indices, init,
             ArrayRef<AffineMap>{ofIndex, identity},
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [&](OpBuilder &nested, Location loc, ValueRange elements) {
               Value row = elements.front();
               if (!row.getType().isIndex())
                 row = arith::IndexCastOp::create(nested, loc,
                                                  nested.getIndexType(), row);
               SmallVector<Value> place = {row};
               for (int64_t dim = indexRank; dim < rank; ++dim)
                 place.push_back(linalg::IndexOp::create(nested, loc, dim));
               Value element =
                   tensor::ExtractOp::create(nested, loc, table, place);
               linalg::YieldOp::create(nested, loc, element);
             })
      .getResult(0);
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

Value sparse_autograd::createElementwise(
    OpBuilder &builder, Location loc, ValueRange inputs, Value like,
    Type elementType,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> compute) {
  int64_t rank = cast<RankedTensorType>(like.getType()).getRank();
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return createStructured(
             builder, loc, inputs,
             createEmptyLike(builder, loc, like, elementType), maps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange elements) {
               linalg::YieldOp::create(
                   nested, loc, compute(nested, loc, elements.drop_back()));
             })
      ->getResult(0);
}

Type sparse_autograd::getAccumulationType(Type type) {
  return type.isF16() || type.isBF16() ? Float32Type::get(type.getContext())
                                       : type;
}

Value sparse_autograd::createFloatCast(OpBuilder &builder, Location loc,
                                       Value value, Type elementType) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == elementType)
    return value;
  bool extends =
      from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth();
  auto cast = [&](OpBuilder &inner, Location loc, Value operand,
                  Type to) -> Value {
    if (extends)
      return arith::ExtFOp::create(inner, loc, to, operand);
    return arith::TruncFOp::create(inner, loc, to, operand);
  };
  if (isSparse(value.getType()))
    return createElementwise(
        builder, loc, value, value, elementType,
        [&](OpBuilder &nested, Location loc, ValueRange elements) {
          return cast(nested, loc, elements[0], elementType);
        });
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return cast(builder, loc, value,
              type ? type.clone(elementType) : elementType);
}

Value sparse_autograd::castTo(OpBuilder &builder, Location loc, Type type,
                              Value value) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(builder, loc, type, value);
}

Value sparse_autograd::createIsStored(OpBuilder &builder, Location loc,
                                      Value element) {
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(element.getType()));
  if (isa<FloatType>(element.getType()))
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                 element, zero);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, element,
                               zero);
}

Value sparse_autograd::createCopyLike(OpBuilder &builder, Location loc,
                                      Value value, Value like) {
  return createElementwise(builder, loc, value, like,
                           getElementTypeOrSelf(value.getType()),
                           [](OpBuilder &, Location, ValueRange elements) {
                             return elements.front();
                           });
}
