//===- ChooseTile.cpp - the choice of one 4 x 4 tile ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements are compared by integer keys: the bits of a magnitude are ordered
// like it. What is not present at an edge has the key of a zero. It comes after
// all that is present in its row and, in the rows below, in its column, so that
// it takes no place from any of them.
//
//===----------------------------------------------------------------------===//

#include "ChooseTile.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace sparse_autograd;

static constexpr int64_t tileSize = tileExtent * tileExtent;

namespace {

/// Arithmetic on integers and conditions.
class Bits {
public:
  Bits(OpBuilder &builder, Location loc) : b(loc, builder) {}

  Value constant(int64_t value, Type type) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
  Value i32(int64_t value) { return constant(value, b.getI32Type()); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value shiftLeft(Value x, Value y) { return arith::ShLIOp::create(b, x, y); }
  Value shiftRight(Value x, Value y) { return arith::ShRUIOp::create(b, x, y); }
  Value isNot(Value x) {
    return arith::XOrIOp::create(b, x, constant(1, b.getI1Type()));
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  /// A condition as the number 0 or 1.
  Value count(Value condition) {
    return arith::ExtUIOp::create(b, b.getI32Type(), condition);
  }
  /// Whether two of three conditions hold.
  Value isMajority(Value x, Value y, Value z) {
    return bitOr(bitAnd(x, y), bitAnd(z, bitOr(x, y)));
  }

  ImplicitLocOpBuilder b;
};

/// The code for one tile.
class TileChooser {
public:
  TileChooser(OpBuilder &builder, Location loc, ArrayRef<Value> elements,
              const TileEdge *edge);

  Value chooseRows();
  Value chooseGreedily();
  Value chooseCausally();
  Value chooseOptimally();

private:
  /// The norm of a set of elements, as `optimal` compares it: the NaNs and
  /// infinities, NaNs in the upper bits, and the sum of the others.
  struct Norm {
    Value count, sum;
  };

  /// A condition for each element as the bits of a number.
  Value pack(ArrayRef<Value> conditions);
  /// The bits of what is kept, as a choice.
  Value toChoice(Value number);
  Value isBefore(int64_t i, int64_t j);
  Norm add(Norm x, Norm y);
  /// `best`, or `pattern` of norm `norm` if that is larger.
  std::pair<Norm, Value> takeLarger(std::pair<Norm, Value> best, Norm norm,
                                    Value pattern);
  void computeNorms();
  Value chooseOfFullTile();
  Value chooseAtEdge();

  Bits bits;
  const TileEdge *edge;
  SmallVector<Value> magnitudes, keys;
  SmallVector<Norm> norms;
  /// The keys of infinity and of every NaN.
  Value infinity, nan;
  /// Whether an element is before a later one.
  llvm::DenseMap<std::pair<int64_t, int64_t>, Value> before;
};

} // namespace

TileChooser::TileChooser(OpBuilder &builder, Location loc,
                         ArrayRef<Value> elements, const TileEdge *edge)
    : bits(builder, loc), edge(edge) {
  ImplicitLocOpBuilder &b = bits.b;
  auto type = cast<FloatType>(elements.front().getType());
  Type integer = b.getIntegerType(type.getWidth());
  APInt infinite = APFloat::getInf(type.getFloatSemantics()).bitcastToAPInt();
  infinity = bits.constant(infinite.getSExtValue(), integer);
  nan = bits.constant(infinite.getSExtValue() + 1, integer);
  Value magnitudeBits = arith::ConstantOp::create(
      b, b.getIntegerAttr(integer, APInt::getSignedMaxValue(type.getWidth())));
  for (auto [number, element] : llvm::enumerate(elements)) {
    Value key = bits.bitAnd(arith::BitcastOp::create(b, integer, element),
                            magnitudeBits);
    // NaNs are equal, whatever they carry.
    key = arith::MinSIOp::create(b, key, nan);
    // No select: fusion looks through those, once for each that there is.
    if (edge)
      key = bits.bitAnd(
          key, arith::ExtSIOp::create(b, integer, edge->isPresent[number]));
    keys.push_back(key);
    magnitudes.push_back(element);
  }
}

/// Whether element `i` is ranked before element `j`.
Value TileChooser::isBefore(int64_t i, int64_t j) {
  Value &known = before[{i, j}];
  if (known)
    return known;
  Value found = i < j
                    ? bits.compare(arith::CmpIPredicate::sge, keys[i], keys[j])
                    : bits.isNot(isBefore(j, i));
  return before[{i, j}] = found;
}

Value TileChooser::pack(ArrayRef<Value> conditions) {
  Value number = bits.i32(0);
  for (auto [i, condition] : llvm::enumerate(conditions))
    number =
        bits.bitOr(number, bits.shiftLeft(bits.count(condition), bits.i32(i)));
  return number;
}

Value TileChooser::toChoice(Value number) {
  if (edge)
    number = bits.bitAnd(number, pack(edge->isPresent));
  return arith::TruncIOp::create(bits.b, bits.b.getIntegerType(16), number);
}

/// An element is kept that at most one other of its group is before.
Value TileChooser::chooseRows() {
  SmallVector<Value> kept;
  for (int64_t i = 0; i < tileSize; ++i) {
    SmallVector<Value> isFirst;
    int64_t begin = i / tileExtent * tileExtent;
    for (int64_t j = begin; j < begin + tileExtent; ++j)
      if (i != j)
        isFirst.push_back(isBefore(i, j));
    kept.push_back(bits.isMajority(isFirst[0], isFirst[1], isFirst[2]));
  }
  return toChoice(pack(kept));
}

/// The elements are visited in the order of their ranks, each of which is the
/// number of elements before it. Rows and columns count what they keep in two
/// bits of a number, of which the upper one says that there are two.
Value TileChooser::chooseGreedily() {
  ImplicitLocOpBuilder &b = bits.b;
  Type i64 = b.getI64Type();
  // Bits 4 r to 4 r + 3: the element of rank r.
  Value order = bits.constant(0, i64);
  for (int64_t i = 0; i < tileSize; ++i) {
    Value rank = bits.i32(tileSize - 1 - i);
    for (int64_t j = 0; j < i; ++j)
      rank = bits.add(rank, bits.count(isBefore(j, i)));
    for (int64_t j = i + 1; j < tileSize; ++j)
      rank = bits.sub(rank, bits.count(isBefore(i, j)));
    Value place = arith::ExtUIOp::create(b, i64, rank);
    place = bits.shiftLeft(place, bits.constant(2, i64));
    order = bits.bitOr(order, bits.shiftLeft(bits.constant(i, i64), place));
  }

  Value zero = bits.i32(0), one = bits.i32(1), two = bits.i32(2);
  Value three = bits.i32(3), fifteen = bits.constant(tileSize - 1, i64);
  Value counts = zero, choice = zero;
  for (int64_t rank = 0; rank < tileSize; ++rank) {
    Value element =
        bits.shiftRight(order, bits.constant(tileExtent * rank, i64));
    element = arith::TruncIOp::create(b, b.getI32Type(),
                                      bits.bitAnd(element, fifteen));
    Value row = bits.shiftLeft(bits.shiftRight(element, two), one);
    Value column =
        bits.add(bits.shiftLeft(bits.bitAnd(element, three), one), bits.i32(8));
    Value counted = bits.bitOr(bits.shiftRight(counts, row),
                               bits.shiftRight(counts, column));
    Value hasRoom =
        bits.compare(arith::CmpIPredicate::eq, bits.bitAnd(counted, two), zero);
    Value kept = bits.count(hasRoom);
    counts = bits.add(counts, bits.add(bits.shiftLeft(kept, row),
                                       bits.shiftLeft(kept, column)));
    choice = bits.bitOr(choice, bits.shiftLeft(kept, element));
  }
  return toChoice(choice);
}

/// In a row that keeps one, what is kept has no element before it whose column
/// has room; in one that keeps two, at most one.
Value TileChooser::chooseCausally() {
  Value no = bits.constant(0, bits.b.getI1Type());
  SmallVector<Value> hasOne(tileExtent, no), isFull(tileExtent, no), kept;
  for (int64_t row = 0; row < tileExtent; ++row) {
    SmallVector<Value> keptOfRow;
    for (int64_t column = 0; column < tileExtent; ++column) {
      int64_t i = getTileBit(row, column);
      SmallVector<Value> isFirst;
      for (int64_t other = 0; other < tileExtent; ++other)
        if (other != column)
          isFirst.push_back(
              bits.bitOr(isBefore(i, getTileBit(row, other)), isFull[other]));
      Value isKept =
          causalRowLimits[row] == 1
              ? bits.bitAnd(bits.bitAnd(isFirst[0], isFirst[1]), isFirst[2])
              : bits.isMajority(isFirst[0], isFirst[1], isFirst[2]);
      keptOfRow.push_back(bits.bitAnd(isKept, bits.isNot(isFull[column])));
    }
    for (auto [column, isKept] : llvm::enumerate(keptOfRow)) {
      isFull[column] =
          bits.bitOr(isFull[column], bits.bitAnd(hasOne[column], isKept));
      hasOne[column] = bits.bitOr(hasOne[column], isKept);
    }
    llvm::append_range(kept, keptOfRow);
  }
  return toChoice(pack(kept));
}

//===----------------------------------------------------------------------===//
// optimal
//===----------------------------------------------------------------------===//

TileChooser::Norm TileChooser::add(Norm x, Norm y) {
  return {bits.add(x.count, y.count),
          arith::AddFOp::create(bits.b, x.sum, y.sum)};
}

std::pair<TileChooser::Norm, Value>
TileChooser::takeLarger(std::pair<Norm, Value> best, Norm norm, Value pattern) {
  Value isLarger = bits.bitOr(
      bits.compare(arith::CmpIPredicate::sgt, norm.count, best.first.count),
      bits.bitAnd(
          bits.compare(arith::CmpIPredicate::eq, norm.count, best.first.count),
          arith::CmpFOp::create(bits.b, arith::CmpFPredicate::OGT, norm.sum,
                                best.first.sum)));
  return {{bits.select(isLarger, norm.count, best.first.count),
           bits.select(isLarger, norm.sum, best.first.sum)},
          bits.select(isLarger, pattern, best.second)};
}

void TileChooser::computeNorms() {
  ImplicitLocOpBuilder &b = bits.b;
  Type type = getAccumulationType(magnitudes.front().getType());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  Value none = bits.i32(0), ofInfinity = bits.i32(1), ofNaN = bits.i32(16);
  for (auto [element, key] : llvm::zip_equal(magnitudes, keys)) {
    Value isNumber = bits.compare(arith::CmpIPredicate::slt, key, infinity);
    Value isNaN = bits.compare(arith::CmpIPredicate::eq, key, nan);
    Value magnitude =
        math::AbsFOp::create(b, createFloatCast(b, b.getLoc(), element, type));
    norms.push_back(
        {bits.select(isNumber, none, bits.select(isNaN, ofNaN, ofInfinity)),
         bits.select(isNumber, magnitude, zero)});
  }
}

/// All patterns, one after the other; the sums of rows, and of two rows, that
/// several have in common are computed once.
Value TileChooser::chooseOfFullTile() {
  llvm::DenseMap<unsigned, Norm> known;
  std::function<Norm(unsigned)> normOf = [&](unsigned pattern) -> Norm {
    if (llvm::has_single_bit(pattern))
      return norms[llvm::countr_zero(pattern)];
    if (auto it = known.find(pattern); it != known.end())
      return it->second;
    // Rows 0 and 1 and rows 2 and 3, then each row, then each element.
    unsigned first = 0;
    for (unsigned part : {0x00FFu, 0x0F0Fu, pattern & -pattern})
      if (first = pattern & part; first != 0 && first != pattern)
        break;
    Norm norm = add(normOf(first), normOf(pattern & ~first));
    known[pattern] = norm;
    return norm;
  };
  SmallVector<uint16_t> patterns = listOptimalPatterns(tileExtent, tileExtent);
  std::pair<Norm, Value> best = {normOf(patterns.front()),
                                 bits.i32(patterns.front())};
  for (uint16_t pattern : ArrayRef(patterns).drop_front())
    best = takeLarger(best, normOf(pattern), bits.i32(pattern));
  return toChoice(best.second);
}

/// The patterns of a tile of so many rows and columns are read from a table.
Value TileChooser::chooseAtEdge() {
  ImplicitLocOpBuilder &b = bits.b;
  SmallVector<int16_t> patterns;
  SmallVector<int64_t> begins;
  for (int64_t rows = 1; rows <= tileExtent; ++rows)
    for (int64_t columns = 1; columns <= tileExtent; ++columns) {
      begins.push_back(patterns.size());
      llvm::append_range(patterns, listOptimalPatterns(rows, columns));
    }
  begins.push_back(patterns.size());
  auto createTable = [&](auto numbers, Type type) {
    auto tableType =
        RankedTensorType::get(static_cast<int64_t>(numbers.size()), type);
    return arith::ConstantOp::create(
        b, cast<TypedAttr>(Attribute(
               DenseElementsAttr::get(tableType, ArrayRef(numbers)))));
  };
  Value table = createTable(patterns, b.getIntegerType(16));
  Value beginTable = createTable(begins, b.getI64Type());
  auto readBegin = [&](Value number) -> Value {
    return arith::IndexCastOp::create(
        b, b.getIndexType(), tensor::ExtractOp::create(b, beginTable, number));
  };
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value four = arith::ConstantIndexOp::create(b, tileExtent);
  Value shape = bits.sub(
      bits.add(arith::MulIOp::create(b, bits.sub(edge->rows, one), four),
               edge->columns),
      one);
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(norms.front().sum.getType()));
  Value none = bits.i32(0);
  auto loop = scf::ForOp::create(
      b, readBegin(shape), readBegin(bits.add(shape, one)), one,
      ValueRange{bits.i32(-1), zero, none},
      [&](OpBuilder &builder, Location loc, Value number, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(builder.getInsertionBlock(),
                            builder.getInsertionPoint());
        Value pattern = arith::ExtUIOp::create(
            b, b.getI32Type(), tensor::ExtractOp::create(b, table, number));
        SmallVector<Norm> parts;
        for (int64_t i = 0; i < tileSize; ++i) {
          Value isKept = bits.compare(
              arith::CmpIPredicate::ne,
              bits.bitAnd(pattern, bits.i32(int64_t(1) << i)), none);
          parts.push_back({bits.select(isKept, norms[i].count, none),
                           bits.select(isKept, norms[i].sum, zero)});
        }
        // Elements of a row, rows, pairs of rows.
        while (parts.size() > 1) {
          SmallVector<Norm> sums;
          for (size_t i = 0; i < parts.size(); i += 2)
            sums.push_back(add(parts[i], parts[i + 1]));
          parts = std::move(sums);
        }
        auto best = takeLarger({{carried[0], carried[1]}, carried[2]},
                               parts.front(), pattern);
        scf::YieldOp::create(
            b, ValueRange{best.first.count, best.first.sum, best.second});
      });
  return toChoice(loop.getResult(2));
}

Value TileChooser::chooseOptimally() {
  computeNorms();
  return edge ? chooseAtEdge() : chooseOfFullTile();
}

Value sparse_autograd::chooseTile(OpBuilder &builder, Location loc,
                                  Selection24 select, ArrayRef<Value> elements,
                                  const TileEdge *edge) {
  TileChooser chooser(builder, loc, elements, edge);
  switch (select) {
  case Selection24::Greedy:
    return chooser.chooseGreedily();
  case Selection24::Optimal:
    return chooser.chooseOptimally();
  case Selection24::RowWise:
    return chooser.chooseRows();
  case Selection24::Causal1122:
    return chooser.chooseCausally();
  }
  llvm_unreachable("every selection is handled");
}
