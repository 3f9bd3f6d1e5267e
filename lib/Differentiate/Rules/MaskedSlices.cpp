//===- MaskedSlices.cpp - what tensors under a mask are made of -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedSlices.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace sparse_autograd;

MaskedSlices::MaskedSlices(OpBuilder &builder, Location loc, Value like,
                           Type elementType, Value mask,
                           ArrayRef<int64_t> maskDims, ArrayRef<int64_t> dims)
    : builder(builder), loc(loc), like(like), mask(mask), dims(dims),
      type(cast<RankedTensorType>(like.getType())), elementType(elementType),
      computeType(getAccumulationType(elementType)) {
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> reduced, masked;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!isReduced(dim))
      reduced.push_back(builder.getAffineDimExpr(dim));
  }
  for (int64_t dim : maskDims)
    masked.push_back(builder.getAffineDimExpr(dim));
  fullMap = builder.getMultiDimIdentityMap(type.getRank());
  reducedMap = AffineMap::get(type.getRank(), 0, reduced, context);
  maskMap = AffineMap::get(type.getRank(), 0, masked, context);
}

MaskedSlices::MaskedSlices(Linearizer &linearizer, Location loc, Value input,
                           Value mask, ArrayRef<int64_t> maskDims,
                           ArrayRef<int64_t> dims)
    : MaskedSlices(linearizer.builder, loc, input,
                   getElementTypeOrSelf(input.getType()), mask, maskDims,
                   dims) {
  this->linearizer = &linearizer;
}

MaskedSlices MaskedSlices::withMask(Value other) const {
  MaskedSlices slices(*this);
  slices.mask = other;
  slices.maskMap = fullMap;
  return slices;
}

bool MaskedSlices::isReduced(int64_t dim) const {
  return llvm::is_contained(dims, dim);
}

SmallVector<OpFoldResult> MaskedSlices::getReducedShape() {
  SmallVector<OpFoldResult> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!isReduced(dim))
      shape.push_back(tensor::getMixedSize(builder, loc, like, dim));
  }
  return shape;
}

Value MaskedSlices::getShape(Extent extent) {
  if (extent == Extent::Full)
    return like;
  return tensor::EmptyOp::create(builder, loc, getReducedShape(), elementType);
}

Value MaskedSlices::note(Value value, Extent extent) {
  if (linearizer && (isSparse(value.getType()) ||
                     !cast<RankedTensorType>(value.getType()).hasStaticShape()))
    linearizer->noteShape(value, getShape(extent));
  return value;
}

MaskedSlices::Extent MaskedSlices::extentOf(Value value) const {
  return cast<RankedTensorType>(value.getType()).getRank() == type.getRank()
             ? Extent::Full
             : Extent::Reduced;
}

/// Groups each dimension that is not in `dims` with the ones of extent 1 around
/// it.
static SmallVector<ReassociationIndices> groupDims(int64_t rank,
                                                   ArrayRef<int64_t> dims) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(dims, dim)) {
      groups.push_back(std::exchange(leading, {}));
      groups.back().push_back(dim);
    } else if (groups.empty()) {
      leading.push_back(dim);
    } else {
      groups.back().push_back(dim);
    }
  }
  return groups;
}

Value MaskedSlices::dropReducedDims(Value value) {
  return tensor::CollapseShapeOp::create(builder, loc, value,
                                         groupDims(type.getRank(), dims));
}

Value MaskedSlices::restoreReducedDims(Value value, Value reduction) {
  SmallVector<OpFoldResult> shape;
  SmallVector<int64_t> staticShape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    shape.push_back(isReduced(dim)
                        ? OpFoldResult(builder.getIndexAttr(1))
                        : tensor::getMixedSize(builder, loc, like, dim));
    staticShape.push_back(isReduced(dim) ? 1 : type.getDimSize(dim));
  }
  auto restored = cast<RankedTensorType>(value.getType()).clone(staticShape);
  Value expanded = tensor::ExpandShapeOp::create(
      builder, loc, restored, value, groupDims(type.getRank(), dims), shape);
  if (restored == reduction.getType())
    return expanded;
  return tensor::CastOp::create(builder, loc, reduction.getType(), expanded);
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Value MaskedSlices::elementwise(Extent extent, Type resultType,
                                ArrayRef<Value> operands,
                                ArrayRef<AffineMap> maps, Body body) {
  Value init = extent == Extent::Full
                   ? createEmptyLike(builder, loc, like, resultType)
                   : tensor::EmptyOp::create(builder, loc, getReducedShape(),
                                             resultType);
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value result =
      createStructured(builder, loc, operands, init, allMaps, iterators,
                       [&](OpBuilder &nested, Location loc, ValueRange args) {
                         linalg::YieldOp::create(nested, loc,
                                                 body(nested, loc, args));
                       })
          ->getResult(0);
  return note(result, extent);
}

Value MaskedSlices::elementwise(Type resultType, ArrayRef<Value> operands,
                                Body body) {
  unsigned rank = cast<RankedTensorType>(operands[0].getType()).getRank();
  SmallVector<AffineMap> maps(operands.size(),
                              builder.getMultiDimIdentityMap(rank));
  return elementwise(extentOf(operands[0]), resultType, operands, maps, body);
}

Value MaskedSlices::reduce(TypedAttr identity, ArrayRef<Value> operands,
                           ArrayRef<AffineMap> maps, Body body) {
  Value empty = tensor::EmptyOp::create(builder, loc, getReducedShape(),
                                        identity.getType());
  Value scalar = arith::ConstantOp::create(builder, loc, identity);
  Value init = linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(reducedMap);
  SmallVector<utils::IteratorType> iterators;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    iterators.push_back(isReduced(dim) ? utils::IteratorType::reduction
                                       : utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), ValueRange(operands), init, allMaps,
             iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               linalg::YieldOp::create(nested, loc, body(nested, loc, args));
             })
      .getResult(0);
}

void MaskedSlices::addMask(SmallVectorImpl<Value> &operands,
                           SmallVectorImpl<AffineMap> &maps) {
  if (!mask)
    return;
  operands.push_back(mask);
  maps.push_back(maskMap);
}

Value MaskedSlices::widen(Value value) {
  if (getElementTypeOrSelf(value.getType()) == computeType)
    return value;
  return elementwise(computeType, value,
                     [&](OpBuilder &nested, Location loc, ValueRange args) {
                       return arith::ExtFOp::create(nested, loc, computeType,
                                                    args[0]);
                     });
}

Value MaskedSlices::narrow(Value value) {
  if (elementType == computeType)
    return value;
  return elementwise(elementType, value,
                     [&](OpBuilder &nested, Location loc, ValueRange args) {
                       return arith::TruncFOp::create(nested, loc, elementType,
                                                      args[0]);
                     });
}

/// The dimensions that a mask ranges over.
static SmallVector<int64_t> positions(AffineMap map) {
  return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) {
    return static_cast<int64_t>(cast<AffineDimExpr>(expr).getPosition());
  });
}

Value MaskedSlices::reduceSelected(ReductionKind kind, Value value) {
  return note(MaskedReduceOp::create(builder, loc, kind, value, mask, dims,
                                     positions(maskMap)),
              Extent::Reduced);
}

Value MaskedSlices::sum(Value value) {
  return reduceSelected(ReductionKind::Sum, value);
}

Value MaskedSlices::mean(Value value) {
  return reduceSelected(ReductionKind::Mean, value);
}

Value MaskedSlices::multiply(Value value, Value weights) {
  return elementwise(computeType, {value, weights},
                     [](OpBuilder &nested, Location loc, ValueRange args) {
                       return arith::MulFOp::create(nested, loc, args[0],
                                                    args[1]);
                     });
}

Value MaskedSlices::subtractFromSelected(Value value, Value subtrahend,
                                         Value factor) {
  SmallVector<Value> operands = {value, subtrahend};
  SmallVector<AffineMap> maps = {fullMap, reducedMap};
  if (factor) {
    operands.push_back(factor);
    maps.push_back(fullMap);
  }
  addMask(operands, maps);
  return elementwise(
      Extent::Full, computeType, operands, maps,
      [&](OpBuilder &nested, Location loc, ValueRange args) -> Value {
        Value taken = args[1];
        if (factor)
          taken = arith::MulFOp::create(nested, loc, taken, args[2]);
        Value difference = arith::SubFOp::create(nested, loc, args[0], taken);
        if (!mask)
          return difference;
        Value zero = arith::ConstantOp::create(nested, loc,
                                               nested.getZeroAttr(computeType));
        return arith::SelectOp::create(nested, loc, args[operands.size() - 1],
                                       difference, zero);
      });
}

Value MaskedSlices::broadcast(Value value) {
  return elementwise(
      Extent::Full, computeType, value, reducedMap,
      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

Value MaskedSlices::createCount() {
  if (!mask) {
    // The same for every slice: the product of the reduced extents.
    Value count = arith::ConstantIndexOp::create(builder, loc, 1);
    for (int64_t dim : dims)
      count = arith::MulIOp::create(
          builder, loc, count, tensor::DimOp::create(builder, loc, like, dim));
    count =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
    Value empty = tensor::EmptyOp::create(builder, loc, getReducedShape(),
                                          builder.getI64Type());
    return linalg::FillOp::create(builder, loc, count, empty).getResult(0);
  }
  // The input is read for its shape only: dimensions that the mask does not
  // range over count as well.
  return reduce(builder.getI64IntegerAttr(0), {like, mask}, {fullMap, maskMap},
                [](OpBuilder &nested, Location loc, ValueRange args) {
                  Value one = arith::ExtUIOp::create(
                      nested, loc, nested.getI64Type(), args[1]);
                  return arith::AddIOp::create(nested, loc, args[2], one);
                });
}

Value MaskedSlices::divideByCount(Value value) {
  return elementwise(
      computeType, {value, createCount()},
      [](OpBuilder &nested, Location loc, ValueRange args) {
        // A slice that selects nothing has no element to divide for.
        Value one =
            arith::ConstantOp::create(nested, loc, nested.getI64IntegerAttr(1));
        Value count = arith::MaxSIOp::create(nested, loc, args[1], one);
        Value divisor =
            arith::SIToFPOp::create(nested, loc, args[0].getType(), count);
        return arith::DivFOp::create(nested, loc, args[0], divisor);
      });
}
