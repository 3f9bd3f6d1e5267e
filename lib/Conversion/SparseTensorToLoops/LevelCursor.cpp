//===- LevelCursor.cpp - where one is in a sparse tensor ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LevelCursor.h"

#include "../BinarySearch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

std::pair<Value, Value> LevelCursor::getSegment(OpBuilder &builder,
                                                Location loc) const {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  const LevelFormatInfo &format = getFormat();
  if (format.storesAll())
    return {zero, storage->getLevelExtent(builder, loc, level)};
  if (format.isSingleton())
    return {begin, end};
  // All that the first level stores, whose positions are 0 and that number: a
  // device is not asked for it.
  if (level == 0 && format.isCompressed())
    return {zero, tensor::DimOp::create(builder, loc,
                                        storage->getCoordinates(level), zero)};
  Value parent = position ? position : zero;
  Value first = parent;
  if (!format.hasPositions()) {
    Value ofParent =
        arith::ConstantIndexOp::create(builder, loc, format.elements);
    first = arith::MulIOp::create(builder, loc, parent, ofParent);
    return {first, arith::AddIOp::create(builder, loc, first, ofParent)};
  }
  if (format.positions > 1) {
    Value ofParent =
        arith::ConstantIndexOp::create(builder, loc, format.positions);
    first = arith::MulIOp::create(builder, loc, parent, ofParent);
  }
  Value next = arith::AddIOp::create(builder, loc, first, one);
  Value positions = storage->getPositions(level);
  return {loadNumber(builder, loc, positions, first),
          loadNumber(builder, loc, positions, next)};
}

Value LevelCursor::getCoordinate(OpBuilder &builder, Location loc,
                                 Value iteration) const {
  if (getFormat().storesAll())
    return iteration;
  return storage->getCoordinate(builder, loc, level, iteration);
}

LevelCursor LevelCursor::enter(OpBuilder &builder, Location loc,
                               Value iteration) const {
  LevelCursor cursor = *this;
  cursor.begin = cursor.end = Value();
  ++cursor.level;
  if (!getFormat().storesAll()) {
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

Value LevelCursor::search(OpBuilder &builder, Location loc, Value begin,
                          Value end, arith::CmpIPredicate predicate,
                          Value coordinate) const {
  return createBinarySearch(
      builder, loc, begin, end, [&](OpBuilder &nested, Value place) -> Value {
        return arith::CmpIOp::create(nested, loc, predicate,
                                     getCoordinate(nested, loc, place),
                                     coordinate);
      });
}

std::pair<Value, Value> LevelCursor::getSegment(OpBuilder &builder,
                                                Location loc, Value from,
                                                Value to) const {
  if (getFormat().storesAll())
    return {from, to};
  auto [first, last] = getSegment(builder, loc);
  Value low =
      search(builder, loc, first, last, arith::CmpIPredicate::ult, from);
  return {low, search(builder, loc, low, last, arith::CmpIPredicate::ult, to)};
}

std::pair<LevelCursor, Value> LevelCursor::locate(OpBuilder &opBuilder,
                                                  Location loc,
                                                  Value coordinate) const {
  ImplicitLocOpBuilder builder(loc, opBuilder);
  if (getFormat().storesAll())
    return {enter(builder, loc, coordinate), Value()};
  if (hasOneElement()) {
    Value isEqual = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          getCoordinate(builder, loc, position),
                                          coordinate);
    return {enter(builder, loc, position), isEqual};
  }
  auto [first, last] = getSegment(builder, loc);
  Value low =
      search(builder, loc, first, last, arith::CmpIPredicate::ult, coordinate);
  if (!storage->getLevel(level).isUnique) {
    LevelCursor cursor = *this;
    ++cursor.level;
    cursor.begin = low;
    cursor.end =
        search(builder, loc, low, last, arith::CmpIPredicate::ule, coordinate);
    return {cursor, Value()};
  }
  Value isInside =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, low, last);
  auto found = scf::IfOp::create(
      builder, isInside,
      [&](OpBuilder &nested, Location loc) {
        Value isEqual =
            arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq,
                                  getCoordinate(nested, loc, low), coordinate);
        scf::YieldOp::create(nested, loc, isEqual);
      },
      [&](OpBuilder &nested, Location loc) {
        Value no =
            arith::ConstantOp::create(nested, loc, nested.getBoolAttr(false));
        scf::YieldOp::create(nested, loc, no);
      });
  return {enter(builder, loc, low), found.getResult(0)};
}
