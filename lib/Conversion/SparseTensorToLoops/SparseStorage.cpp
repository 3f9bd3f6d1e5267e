//===- SparseStorage.cpp - a sparse tensor as its components --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseStorage.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

/// The coordinates of dimensions from those of levels, which are dimensions or
/// the quotients and remainders of them. Upstream's inverse takes dimensions to
/// be in the order of levels where some are in blocks (LLVM 22.1).
static AffineMap invert(AffineMap dimsToLevels) {
  MLIRContext *context = dimsToLevels.getContext();
  SmallVector<AffineExpr> dims(dimsToLevels.getNumDims(),
                               getAffineConstantExpr(0, context));
  for (auto [level, expr] : llvm::enumerate(dimsToLevels.getResults())) {
    AffineExpr term = getAffineDimExpr(level, context);
    auto part = dyn_cast<AffineBinaryOpExpr>(expr);
    if (part && part.getKind() == AffineExprKind::FloorDiv)
      term = term * part.getRHS();
    AffineExpr &dim =
        dims[cast<AffineDimExpr>(part ? part.getLHS() : expr).getPosition()];
    dim = dim + term;
  }
  return AffineMap::get(dimsToLevels.getNumResults(), 0, dims, context);
}

SparseStorage::SparseStorage(RankedTensorType type, ValueRange components)
    : type(type), components(components) {
  SparseTensorType sparse(type);
  dimsToLevels = sparse.getExpandedDimToLvl();
  levelsToDims = invert(dimsToLevels);
  for (LevelType level : sparse.getLvlTypes())
    levels.push_back(getLevelKind(level));
  positions.resize(levels.size());
  coordinates.resize(levels.size());
  unsigned next = 0;
  for (const LevelList &list : getLevelLists(sparse.getEncoding()))
    (list.hasPositions ? positions : coordinates)[list.level] =
        components[next++];
  valuesIndex = next++;
  for (int64_t extent : type.getShape())
    extents.push_back(ShapedType::isDynamic(extent) ? components[next++]
                                                    : Value());
}

Value SparseStorage::getExtent(OpBuilder &builder, Location loc,
                               unsigned dim) const {
  if (extents[dim])
    return extents[dim];
  return arith::ConstantIndexOp::create(builder, loc, type.getDimSize(dim));
}

/// The extent of a level whose coordinate is `expr` of those of dimensions.
static Value createLevelExtent(OpBuilder &builder, Location loc,
                               AffineExpr expr,
                               llvm::function_ref<Value(unsigned)> getExtent) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getExtent(dim.getPosition());
  auto part = cast<AffineBinaryOpExpr>(expr);
  int64_t block = cast<AffineConstantExpr>(part.getRHS()).getValue();
  Value size = arith::ConstantIndexOp::create(builder, loc, block);
  if (part.getKind() == AffineExprKind::Mod)
    return size;
  Value extent = getExtent(cast<AffineDimExpr>(part.getLHS()).getPosition());
  return arith::CeilDivUIOp::create(builder, loc, extent, size);
}

SmallVector<Value> sparse_autograd::getLevelExtents(OpBuilder &builder,
                                                    Location loc,
                                                    RankedTensorType type,
                                                    ValueRange extents) {
  SmallVector<Value> result;
  for (AffineExpr expr :
       SparseTensorType(type).getExpandedDimToLvl().getResults())
    result.push_back(createLevelExtent(
        builder, loc, expr, [&](unsigned dim) { return extents[dim]; }));
  return result;
}

Value sparse_autograd::countPositions(OpBuilder &builder, Location loc,
                                      const LevelFormatInfo &format,
                                      Value parents) {
  Value more = format.isCompressed()
                   ? Value(arith::ConstantIndexOp::create(builder, loc, 1))
                   : parents;
  return arith::AddIOp::create(builder, loc, parents, more);
}

Value sparse_autograd::countCoordinates(OpBuilder &builder, Location loc,
                                        const LevelFormatInfo &format,
                                        Value elements) {
  if (!format.isPacked())
    return elements;
  Value inByte =
      arith::ConstantIndexOp::create(builder, loc, format.countInByte());
  return arith::CeilDivUIOp::create(builder, loc, elements, inByte);
}

Value sparse_autograd::loadNumber(OpBuilder &builder, Location loc, Value list,
                                  Value index) {
  Value number = tensor::ExtractOp::create(builder, loc, list, index);
  if (number.getType().isIndex())
    return number;
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      number);
}

Value SparseStorage::getCoordinate(OpBuilder &builder, Location loc,
                                   unsigned level, Value element) const {
  const LevelFormatInfo &format = getFormat(level);
  if (!format.isPacked())
    return loadNumber(builder, loc, coordinates[level], element);
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  Value inByte = constant(format.countInByte());
  Value byte =
      loadNumber(builder, loc, coordinates[level],
                 arith::DivUIOp::create(builder, loc, element, inByte));
  Value place = arith::RemUIOp::create(builder, loc, element, inByte);
  Value shift =
      arith::MulIOp::create(builder, loc, place, constant(format.coordinates));
  Value shifted = arith::ShRUIOp::create(builder, loc, byte, shift);
  return arith::AndIOp::create(builder, loc, shifted,
                               constant(format.getPackedExtent() - 1));
}

Value SparseStorage::getLevelExtent(OpBuilder &builder, Location loc,
                                    unsigned level) const {
  return createLevelExtent(
      builder, loc, dimsToLevels.getResult(level),
      [&](unsigned dim) { return getExtent(builder, loc, dim); });
}

SmallVector<Value> SparseStorage::withValues(OpBuilder &builder, Location loc,
                                             Value values,
                                             RankedTensorType as) const {
  SmallVector<Value> result(ArrayRef(components).take_front(valuesIndex));
  result.push_back(values);
  for (int64_t dim = 0; dim < as.getRank(); ++dim)
    if (as.isDynamicDim(dim))
      result.push_back(getExtent(builder, loc, dim));
  return result;
}
