//===- NewRows.cpp - rows of a new sparse tensor --------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NewRows.h"
#include "SparseStorage.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

/// The bits of a number that is stored; 0 for those of an index.
static unsigned getBits(Type type) {
  return type.isIndex() ? 0 : type.getIntOrFloatBitWidth();
}

bool NewRows::consistsOfRows(RankedTensorType type) {
  SparseTensorType sparse(type);
  Level last = sparse.getLvlRank() - 1;
  return sparse.getExpandedDimToLvl().isPermutation() &&
         llvm::all_of(
             sparse.getLvlTypes().drop_back(),
             [](LevelType level) { return getFormat(level).storesAll(); }) &&
         getFormat(sparse.getLvlType(last)).isCompressed() &&
         sparse.isUniqueLvl(last);
}

StringRef NewRows::getReasonAgainst(RankedTensorType type) {
  SparseTensorType sparse(type);
  AffineMap levels = sparse.getExpandedDimToLvl();
  Level last = sparse.getLvlRank() - 1;
  if (!consistsOfRows(type))
    return "its levels are not dense ones and a last one that is compressed";
  unsigned bits = sparse.getEncoding().getCrdWidth();
  int64_t extent = type.getDimSize(levels.getDimPosition(last));
  if (bits != 0 && bits < 32 &&
      (ShapedType::isDynamic(extent) || extent > int64_t(1) << bits))
    return "coordinates may not fit their width";
  return "";
}

NewRows::NewRows(OpBuilder &opBuilder, Location loc, RankedTensorType type,
                 ValueRange extents)
    : loc(loc), type(type), extents(extents),
      levelExtents(getLevelExtents(opBuilder, loc, type, extents)),
      levels(SparseTensorType(type).getExpandedDimToLvl()) {
  ImplicitLocOpBuilder builder(loc, opBuilder);
  for (const LevelList &list :
       getLevelLists(SparseTensorType(type).getEncoding()))
    (list.hasPositions ? positionType : coordinateType) = list.elementType;
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  // Extents of slices are any numbers.
  for (auto [level, extent] : llvm::enumerate(levelExtents)) {
    Value exists = builder.createOrFold<arith::CmpIOp>(
        arith::CmpIPredicate::sge, extent, zero);
    if (!getConstantIntValue(exists))
      cf::AssertOp::create(
          builder, exists,
          ("level " + Twine(level) + ": its extent is negative").str());
  }
  numRows = arith::ConstantIndexOp::create(builder, 1);
  for (auto [level, extent] :
       llvm::enumerate(ArrayRef(levelExtents).drop_back())) {
    if (level == 0) {
      numRows = extent;
      continue;
    }
    auto product = arith::MulUIExtendedOp::create(builder, numRows, extent);
    Value hasHigh = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          product.getHigh(), zero);
    Value hasSign = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge,
                                          product.getLow(), zero);
    Value fits = arith::AndIOp::create(builder, hasHigh, hasSign);
    cf::AssertOp::create(
        builder, fits,
        ("level " + Twine(level) +
         " has too many elements: the product of the extents overflows")
            .str());
    numRows = product.getLow();
  }
  if (getBits(coordinateType) != 32)
    return;
  Value most = arith::ConstantIndexOp::create(builder, int64_t(1) << 32);
  Value fits = builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ule,
                                                   levelExtents.back(), most);
  if (getConstantIntValue(fits))
    return;
  cf::AssertOp::create(
      builder, fits,
      ("level " + Twine(levelExtents.size() - 1) +
       ": coordinates of its extent do not fit 4 bytes; store coordinates of "
       "64 bits (crdWidth = 64)")
          .str());
}

Value NewRows::getRow(OpBuilder &builder, ValueRange indices) const {
  Value row;
  for (unsigned level = 0; level + 1 < levels.getNumResults(); ++level) {
    Value coordinate = indices[levels.getDimPosition(level)];
    if (row) {
      row = arith::MulIOp::create(builder, loc, row, levelExtents[level]);
      coordinate = arith::AddIOp::create(builder, loc, row, coordinate);
    }
    row = coordinate;
  }
  return row ? row : arith::ConstantIndexOp::create(builder, loc, 0);
}

Value NewRows::toCoordinate(OpBuilder &builder, Value index) const {
  if (coordinateType.isIndex())
    return index;
  return arith::IndexCastUIOp::create(builder, loc, coordinateType, index);
}

Value NewRows::getCoordinate(OpBuilder &builder, ValueRange indices) const {
  unsigned last = levels.getNumResults() - 1;
  return toCoordinate(builder, indices[levels.getDimPosition(last)]);
}

Value NewRows::createList(OpBuilder &builder, Value length,
                          Type element) const {
  return tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>{length},
                                 element);
}

Value NewRows::createCounters(OpBuilder &builder) const {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value length = arith::AddIOp::create(builder, loc, numRows, one);
  Value counters = createList(builder, length, builder.getIndexType());
  return linalg::FillOp::create(builder, loc, zero, counters).getResult(0);
}

Value NewRows::count(OpBuilder &builder, Value row, Value counters) const {
  return takePlace(builder, row, counters).second;
}

std::pair<Value, Value> NewRows::takePlace(OpBuilder &builder, Value row,
                                           Value places) const {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value place = tensor::ExtractOp::create(builder, loc, places, row);
  Value next = arith::AddIOp::create(builder, loc, place, one);
  return {place, tensor::InsertOp::create(builder, loc, next, places, row)};
}

Value NewRows::beginRows(OpBuilder &builder, Value counters) const {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value end = arith::AddIOp::create(builder, loc, numRows, one);
  auto loop = scf::ForOp::create(
      builder, loc, zero, end, one, ValueRange{counters, zero},
      [&](OpBuilder &nested, Location loc, Value row, ValueRange carried) {
        Value length =
            tensor::ExtractOp::create(nested, loc, carried.front(), row);
        Value begins = tensor::InsertOp::create(nested, loc, carried.back(),
                                                carried.front(), row);
        Value sum = arith::AddIOp::create(nested, loc, carried.back(), length);
        scf::YieldOp::create(nested, loc, ValueRange{begins, sum});
      });
  return loop.getResult(0);
}

Value NewRows::getNumEntries(OpBuilder &builder, Value begins) const {
  return tensor::ExtractOp::create(builder, loc, begins, numRows);
}

Value NewRows::createPositions(OpBuilder &opBuilder, Value begins) const {
  ImplicitLocOpBuilder builder(loc, opBuilder);
  unsigned bits = getBits(positionType);
  if (bits != 0 && bits < 64) {
    Value most =
        arith::ConstantIndexOp::create(builder, (int64_t(1) << bits) - 1);
    Value fits = arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                                       getNumEntries(builder, begins), most);
    cf::AssertOp::create(builder, fits,
                         ("level " + Twine(levels.getNumResults() - 1) +
                          ": a position does not fit " + Twine(bits / 8) +
                          " bytes; store positions of more bits (posWidth)")
                             .str());
  }
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value length = arith::AddIOp::create(builder, numRows, one);
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  auto positions = linalg::GenericOp::create(
      builder, RankedTensorType::get({ShapedType::kDynamic}, positionType),
      begins, createList(builder, length, positionType),
      ArrayRef<AffineMap>{identity, identity},
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        Value position = elements.front();
        if (bits != 0)
          position =
              arith::IndexCastUIOp::create(nested, loc, positionType, position);
        linalg::YieldOp::create(nested, loc, position);
      });
  return positions.getResult(0);
}

SmallVector<Value> NewRows::getComponents(Value positions, Value coordinates,
                                          Value values) const {
  SmallVector<Value> components = {positions, coordinates, values};
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      components.push_back(extents[dim]);
  return components;
}
