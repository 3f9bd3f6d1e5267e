//===- StoredElements.cpp - loops over what one tensor stores -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoredElements.h"
#include "EmitIf.h"
#include "LevelCursor.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

namespace {
/// Builds the loops, one for each level.
class Visitor {
public:
  Visitor(OpBuilder &builder, Location loc, const StoredElements &elements,
          ElementBuilder visit)
      : builder(builder), loc(loc), elements(elements),
        storage(elements.storage), visit(visit),
        coordinates(storage.getType().getRank()),
        isLoopInWindow(coordinates.size()) {}

  SmallVector<Value> visitLevel(LevelCursor cursor, ValueRange carried);

private:
  SmallVector<Value> visitElement(LevelCursor cursor, ValueRange carried);
  /// Finds the coordinates of the dimensions whose last level is `level`, and
  /// whether they are those of an element that is visited; null if they are.
  Value findCoordinates(unsigned level);
  /// Whether the coordinate of `dim` lies in its window; null if it does.
  Value isInWindow(unsigned dim);
  /// Whether a window is as long as dimension `dim`, and so begins at 0.
  bool isWholeDimension(const Window &window, unsigned dim);
  /// The dimension whose window the loop over the next level visits; none if it
  /// visits all that the level stores.
  std::optional<unsigned> getWindowDim(const LevelCursor &cursor);
  scf::ForOp createLoop(const LevelCursor &cursor, ValueRange carried);
  Value combine(Value a, Value b) {
    return a && b ? arith::AndIOp::create(builder, loc, a, b).getResult()
                  : (a ? a : b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  OpBuilder &builder;
  Location loc;
  const StoredElements &elements;
  const SparseStorage &storage;
  ElementBuilder visit;
  /// Of the levels that are behind, and of the dimensions all of whose levels
  /// are.
  SmallVector<Value> levelCoordinates;
  SmallVector<Value> coordinates;
  /// The dimensions whose loop visits their window alone.
  llvm::SmallBitVector isLoopInWindow;
};
} // namespace

bool Visitor::isWholeDimension(const Window &window, unsigned dim) {
  int64_t extent = storage.getType().getDimSize(dim);
  return ShapedType::isDynamic(extent)
             ? window.size == storage.getExtent(builder, loc, dim)
             : getConstantIntValue(window.size) == extent;
}

Value Visitor::isInWindow(unsigned dim) {
  const Window &window = elements.windows[dim];
  if (isWholeDimension(window, dim))
    return {};
  Value place =
      arith::SubIOp::create(builder, loc, coordinates[dim], window.offset);
  // A negative number is a large one without a sign.
  if (window.stride == 1)
    return compare(arith::CmpIPredicate::ult, place, window.size);
  Value stride = constant(window.stride);
  Value isBehind = compare(arith::CmpIPredicate::sge, place, constant(0));
  Value isOn =
      compare(arith::CmpIPredicate::eq,
              arith::RemUIOp::create(builder, loc, place, stride), constant(0));
  Value isBefore =
      compare(arith::CmpIPredicate::ult,
              arith::DivUIOp::create(builder, loc, place, stride), window.size);
  return combine(combine(isBehind, isOn), isBefore);
}

Value Visitor::findCoordinates(unsigned level) {
  Value holds;
  for (unsigned dim = 0; dim < coordinates.size(); ++dim) {
    AffineExpr expr = storage.getLevelsToDims().getResult(dim);
    bool isLast = expr.isFunctionOfDim(level);
    for (unsigned later = level + 1; later < storage.getNumLevels(); ++later)
      isLast &= !expr.isFunctionOfDim(later);
    if (!isLast)
      continue;
    coordinates[dim] =
        affine::expandAffineExpr(builder, loc, expr, levelCoordinates, {});
    // What pads a block is no element.
    if (!isa<AffineDimExpr>(expr))
      holds =
          combine(holds, compare(arith::CmpIPredicate::ult, coordinates[dim],
                                 storage.getExtent(builder, loc, dim)));
    if (!elements.windows.empty() && !elements.isOutside &&
        !isLoopInWindow.test(dim))
      holds = combine(holds, isInWindow(dim));
  }
  return holds;
}

SmallVector<Value> Visitor::visitElement(LevelCursor cursor,
                                         ValueRange carried) {
  auto inside = [&]() {
    return visit(builder, coordinates, cursor.getPosition(), carried);
  };
  if (!elements.isOutside)
    return inside();
  Value isInside;
  for (unsigned dim = 0; dim < coordinates.size(); ++dim)
    isInside = combine(isInside, isInWindow(dim));
  if (!isInside)
    return SmallVector<Value>(carried);
  Value yes =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  return emitIf(builder, loc,
                arith::XOrIOp::create(builder, loc, isInside, yes), carried,
                inside);
}

std::optional<unsigned> Visitor::getWindowDim(const LevelCursor &cursor) {
  unsigned level = cursor.getLevel();
  auto dim =
      dyn_cast<AffineDimExpr>(storage.getDimsToLevels().getResult(level));
  if (!dim || elements.windows.empty() || elements.isOutside ||
      isWholeDimension(elements.windows[dim.getPosition()], dim.getPosition()))
    return std::nullopt;
  // To search pays where much is stored behind one another.
  if (level != 0 && !storage.getFormat(level).storesAll())
    return std::nullopt;
  return dim.getPosition();
}

scf::ForOp Visitor::createLoop(const LevelCursor &cursor, ValueRange carried) {
  std::optional<unsigned> dim = getWindowDim(cursor);
  Value step = constant(1);
  if (!dim) {
    auto [begin, end] = cursor.getSegment(builder, loc);
    return scf::ForOp::create(builder, loc, begin, end, step, carried);
  }
  const Window &window = elements.windows[*dim];
  Value stride = constant(window.stride);
  Value length = arith::MulIOp::create(builder, loc, window.size, stride);
  Value behind = arith::AddIOp::create(builder, loc, window.offset, length);
  auto [begin, end] = cursor.getSegment(builder, loc, window.offset, behind);
  bool isDense = storage.getFormat(cursor.getLevel()).storesAll();
  isLoopInWindow[*dim] = isDense || window.stride == 1;
  return scf::ForOp::create(builder, loc, begin, end, isDense ? stride : step,
                            carried);
}

SmallVector<Value> Visitor::visitLevel(LevelCursor cursor, ValueRange carried) {
  unsigned level = cursor.getLevel();
  if (level == storage.getNumLevels())
    return visitElement(cursor, carried);
  auto inside = [&](Value iteration, ValueRange now) {
    levelCoordinates.resize(level);
    levelCoordinates.push_back(cursor.getCoordinate(builder, loc, iteration));
    return emitIf(builder, loc, findCoordinates(level), now, [&]() {
      return visitLevel(cursor.enter(builder, loc, iteration), now);
    });
  };
  if (cursor.hasOneElement())
    return inside(cursor.getPosition(), carried);
  scf::ForOp loop = createLoop(cursor, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      inside(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value>
sparse_autograd::visitStoredElements(OpBuilder &builder, Location loc,
                                     const StoredElements &elements,
                                     ValueRange carried, ElementBuilder visit) {
  return Visitor(builder, loc, elements, visit)
      .visitLevel(LevelCursor(elements.storage), carried);
}
