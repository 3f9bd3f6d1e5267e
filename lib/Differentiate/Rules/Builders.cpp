//===- Builders.cpp - tensors that derivative rules build -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::createSum(OpBuilder &builder, Location loc, Value a,
                                 Value b) {
  if (!isSparse(a.getType()))
    return arith::AddFOp::create(builder, loc, a, b);
  return createElementwise(
      builder, loc, {a, b}, a, getElementTypeOrSelf(a.getType()),
      [](OpBuilder &nested, Location loc, ValueRange elements) -> Value {
        return arith::AddFOp::create(nested, loc, elements[0], elements[1]);
      });
}

Value sparse_autograd::selectUnder(OpBuilder &builder, Location loc,
                                   Value value, const Support &support,
                                   Value like) {
  if (!support)
    return value;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) {
    Value condition = materializeMask(builder, loc, support, value);
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType()));
    return arith::SelectOp::create(builder, loc, condition, value, zero);
  }
  Value init =
      createEmptyLike(builder, loc, like ? like : value, type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto select = createStructured(
      builder, loc, {value, support.mask}, init,
      {identity, support.map, identity}, iterators,
      [](OpBuilder &nested, Location loc, ValueRange args) {
        Value zero = arith::ConstantOp::create(
            nested, loc, nested.getZeroAttr(args[0].getType()));
        Value selected =
            arith::SelectOp::create(nested, loc, args[1], args[0], zero);
        linalg::YieldOp::create(nested, loc, selected);
      });
  return select->getResult(0);
}

/// Combines two masks elementwise into a mask of the shape of `value`.
template <typename CombineOp>
static Support combineMasks(OpBuilder &builder, Location loc, Value value,
                            const Support &a, const Support &b) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool isPlain = a.map.isIdentity() && b.map.isIdentity() &&
                 a.mask.getType() == b.mask.getType();
  if (!type || isPlain)
    return Support::of(
        CombineOp::create(builder, loc, materializeMask(builder, loc, a, value),
                          materializeMask(builder, loc, b, value)));
  Value init = createEmptyLike(builder, loc, value, builder.getI1Type());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto combined = createStructured(
      builder, loc, {a.mask, b.mask}, init, {a.map, b.map, identity}, iterators,
      [](OpBuilder &nested, Location loc, ValueRange args) {
        Value both = CombineOp::create(nested, loc, args[0], args[1]);
        linalg::YieldOp::create(nested, loc, both);
      });
  return Support::of(combined->getResult(0));
}

Support sparse_autograd::intersectSupports(OpBuilder &builder, Location loc,
                                           Value value, const Support &a,
                                           const Support &b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  return combineMasks<arith::AndIOp>(builder, loc, value, a, b);
}

Support sparse_autograd::uniteSupports(OpBuilder &builder, Location loc,
                                       Value value, const Support &a,
                                       const Support &b) {
  if (!a || !b)
    return {};
  if (a == b)
    return a;
  return combineMasks<arith::OrIOp>(builder, loc, value, a, b);
}

Value sparse_autograd::createMask(OpBuilder &builder, Location loc,
                                  bool selects, Value like) {
  if (isSparse(like.getType()))
    return selects ? PatternOp::create(builder, loc, like).getResult()
                   : createZeros(builder, loc, like, builder.getI1Type());
  Value constant =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(selects));
  if (!isa<RankedTensorType>(like.getType()))
    return constant;
  Value empty = createEmptyLike(builder, loc, like, builder.getI1Type());
  return linalg::FillOp::create(builder, loc, constant, empty).getResult(0);
}

Value sparse_autograd::createAny(OpBuilder &builder, Location loc, Value mask,
                                 ArrayRef<int64_t> dims) {
  SmallVector<OpFoldResult> extents;
  SmallVector<AffineExpr> kept;
  SmallVector<utils::IteratorType> iterators;
  int64_t rank = cast<RankedTensorType>(mask.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isReduced = llvm::is_contained(dims, dim);
    iterators.push_back(isReduced ? utils::IteratorType::reduction
                                  : utils::IteratorType::parallel);
    if (isReduced)
      continue;
    kept.push_back(builder.getAffineDimExpr(dim));
    extents.push_back(tensor::getMixedSize(builder, loc, mask, dim));
  }
  Value no =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  Value empty =
      tensor::EmptyOp::create(builder, loc, extents, builder.getI1Type());
  Value init = linalg::FillOp::create(builder, loc, no, empty).getResult(0);
  AffineMap maps[] = {builder.getMultiDimIdentityMap(rank),
                      AffineMap::get(rank, 0, kept, builder.getContext())};
  return linalg::GenericOp::create(
             builder, loc, init.getType(), mask, init, maps, iterators,
             [](OpBuilder &nested, Location loc, ValueRange args) {
               Value either =
                   arith::OrIOp::create(nested, loc, args[0], args[1]);
               linalg::YieldOp::create(nested, loc, either);
             })
      .getResult(0);
}

Value sparse_autograd::materializeMask(OpBuilder &builder, Location loc,
                                       const Support &support, Value value) {
  if (!support)
    return createMask(builder, loc, /*selects=*/true, value);
  Value mask = support.mask;
  bool isScalar = !isa<RankedTensorType>(mask.getType());
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return isScalar ? mask : tensor::ExtractOp::create(builder, loc, mask);
  if (isScalar || !support.map.isIdentity()) {
    Value init = createEmptyLike(builder, loc, value, builder.getI1Type());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
    mask = createStructured(
               builder, loc, mask, init, {support.map, identity}, iterators,
               [](OpBuilder &nested, Location loc, ValueRange args) {
                 linalg::YieldOp::create(nested, loc, args[0]);
               })
               ->getResult(0);
  }
  // The mask may have another pattern than the value, or know other extents.
  if (cast<RankedTensorType>(mask.getType()).getEncoding() !=
      type.getEncoding())
    mask = createCopyLike(builder, loc, mask, value);
  auto maskType = type.clone(builder.getI1Type());
  if (mask.getType() != maskType)
    mask = tensor::CastOp::create(builder, loc, maskType, mask);
  return mask;
}

Value sparse_autograd::createZero(OpBuilder &builder, Location loc,
                                  Value like) {
  return createZero(builder, loc, like, getElementTypeOrSelf(like.getType()));
}

Value sparse_autograd::createZero(OpBuilder &builder, Location loc, Value like,
                                  Type elementType) {
  auto type = dyn_cast<RankedTensorType>(like.getType());
  if (!type)
    return arith::ConstantOp::create(builder, loc,
                                     builder.getZeroAttr(elementType));
  if (type.hasStaticShape() && !isSparse(type))
    return arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.clone(elementType)));
  return createZeros(builder, loc, like, elementType);
}

Value sparse_autograd::tangentOrZero(Linearizer &linearizer, Value primal,
                                     Location loc) {
  if (Value known = linearizer.tangent(primal))
    return known;
  return createZero(linearizer.builder, loc, primal);
}
