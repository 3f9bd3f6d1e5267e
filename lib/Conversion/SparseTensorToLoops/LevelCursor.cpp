//===- LevelCursor.cpp - where one is in a sparse tensor ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LevelCursor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

/// Loads element `index` of a list of positions or coordinates.
Value LevelCursor::load(OpBuilder &builder, Location loc, Value tensor,
                        Value index) const {
  Value number = tensor::ExtractOp::create(builder, loc, tensor, index);
  if (number.getType().isIndex())
    return number;
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      number);
}

std::pair<Value, Value> LevelCursor::getSegment(OpBuilder &builder,
                                                Location loc) const {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  LevelType type = getType();
  if (isDenseLT(type))
    return {zero, storage->getLevelExtent(builder, loc, level)};
  if (isSingletonLT(type))
    return {begin, end};
  // All that the first level stores, whose positions are 0 and that number: a
  // device is not asked for it.
  if (level == 0 && isCompressedLT(type))
    return {zero, tensor::DimOp::create(builder, loc,
                                        storage->getCoordinates(level), zero)};
  Value parent = position ? position : zero;
  Value first = parent;
  if (isLooseCompressedLT(type)) {
    Value two = arith::ConstantIndexOp::create(builder, loc, 2);
    first = arith::MulIOp::create(builder, loc, parent, two);
  }
  Value next = arith::AddIOp::create(builder, loc, first, one);
  Value positions = storage->getPositions(level);
  return {load(builder, loc, positions, first),
          load(builder, loc, positions, next)};
}

Value LevelCursor::getCoordinate(OpBuilder &builder, Location loc,
                                 Value iteration) const {
  if (isDenseLT(getType()))
    return iteration;
  return load(builder, loc, storage->getCoordinates(level), iteration);
}

LevelCursor LevelCursor::enter(OpBuilder &builder, Location loc,
                               Value iteration) const {
  LevelCursor cursor = *this;
  cursor.begin = cursor.end = Value();
  ++cursor.level;
  if (!isDenseLT(getType())) {
    cursor.position = iteration;
    return cursor;
  }
  if (!position) {
    cursor.position = iteration;
    return cursor;
  }
  Value extent = storage->getLevelExtent(builder, loc, level);
  Value first = arith::MulIOp::create(builder, loc, position, extent);
  cursor.position = arith::AddIOp::create(builder, loc, first, iteration);
  return cursor;
}

/// The first place in [begin, end) of a sorted list at which the coordinate is
/// not below `coordinate` (or, with `orEqual`, above it); `end` if there is
/// none.
static Value createSearch(ImplicitLocOpBuilder &builder, Value begin, Value end,
                          Value coordinate, bool orEqual,
                          llvm::function_ref<Value(OpBuilder &, Value)> load) {
  Type index = builder.getIndexType();
  auto search = scf::WhileOp::create(
      builder, TypeRange{index, index}, ValueRange{begin, end},
      [&](OpBuilder &nested, Location loc, ValueRange bounds) {
        Value isOpen = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::ult, bounds[0], bounds[1]);
        scf::ConditionOp::create(nested, loc, isOpen, bounds);
      },
      [&](OpBuilder &nested, Location loc, ValueRange bounds) {
        Value one = arith::ConstantIndexOp::create(nested, loc, 1);
        Value sum = arith::AddIOp::create(nested, loc, bounds[0], bounds[1]);
        Value middle = arith::ShRUIOp::create(nested, loc, sum, one);
        Value next = arith::AddIOp::create(nested, loc, middle, one);
        Value isBelow = arith::CmpIOp::create(
            nested, loc,
            orEqual ? arith::CmpIPredicate::ule : arith::CmpIPredicate::ult,
            load(nested, middle), coordinate);
        Value low =
            arith::SelectOp::create(nested, loc, isBelow, next, bounds[0]);
        Value high =
            arith::SelectOp::create(nested, loc, isBelow, bounds[1], middle);
        scf::YieldOp::create(nested, loc, ValueRange{low, high});
      });
  return search.getResult(0);
}

std::pair<Value, Value> LevelCursor::getSegment(OpBuilder &opBuilder,
                                                Location loc, Value from,
                                                Value to) const {
  if (isDenseLT(getType()))
    return {from, to};
  ImplicitLocOpBuilder builder(loc, opBuilder);
  auto [first, last] = getSegment(builder, loc);
  auto loadAt = [&](OpBuilder &nested, Value place) {
    return getCoordinate(nested, loc, place);
  };
  Value low =
      createSearch(builder, first, last, from, /*orEqual=*/false, loadAt);
  return {low, createSearch(builder, low, last, to, /*orEqual=*/false, loadAt)};
}

std::pair<LevelCursor, Value> LevelCursor::locate(OpBuilder &opBuilder,
                                                  Location loc,
                                                  Value coordinate) const {
  ImplicitLocOpBuilder builder(loc, opBuilder);
  LevelType type = getType();
  if (isDenseLT(type))
    return {enter(builder, loc, coordinate), Value()};
  if (hasOneElement()) {
    Value isEqual = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          getCoordinate(builder, loc, position),
                                          coordinate);
    return {enter(builder, loc, position), isEqual};
  }
  auto [first, last] = getSegment(builder, loc);
  auto loadAt = [&](OpBuilder &nested, Value place) {
    return getCoordinate(nested, loc, place);
  };
  Value low = createSearch(builder, first, last, coordinate,
                           /*orEqual=*/false, loadAt);
  if (!isUniqueLT(type)) {
    LevelCursor cursor = *this;
    ++cursor.level;
    cursor.position = Value();
    cursor.begin = low;
    cursor.end = createSearch(builder, low, last, coordinate,
                              /*orEqual=*/true, loadAt);
    return {cursor, Value()};
  }
  Value isInside =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, low, last);
  auto found = scf::IfOp::create(
      builder, isInside,
      [&](OpBuilder &nested, Location loc) {
        Value isEqual =
            arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq,
                                  loadAt(nested, low), coordinate);
        scf::YieldOp::create(nested, loc, isEqual);
      },
      [&](OpBuilder &nested, Location loc) {
        Value no =
            arith::ConstantOp::create(nested, loc, nested.getBoolAttr(false));
        scf::YieldOp::create(nested, loc, no);
      });
  return {enter(builder, loc, low), found.getResult(0)};
}
