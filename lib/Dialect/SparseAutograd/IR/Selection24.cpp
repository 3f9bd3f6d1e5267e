//===- Selection24.cpp - choices of two of four ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Choices of constants follow the definitions, element by element; what is
// computed when the program runs is built by the lowering of choose_24.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Elements of a row or a column that are kept at most.
static constexpr int64_t maxKept = 2;

namespace {
/// Elements of a tile that are kept, in sets of its bits.
class KeptElements {
public:
  bool hasRoom(int64_t row, int64_t column, int64_t rowLimit = maxKept) const {
    return rows[row] < rowLimit && columns[column] < maxKept;
  }
  void keep(int64_t row, int64_t column) {
    ++rows[row];
    ++columns[column];
    bits |= uint16_t(1) << getTileBit(row, column);
  }
  uint16_t getBits() const { return bits; }

private:
  int64_t rows[tileExtent] = {}, columns[tileExtent] = {};
  uint16_t bits = 0;
};

/// An element of a tile.
struct Element {
  int64_t row, column;
  APFloat magnitude;

  /// Whether it is ranked before `other` wherever both are.
  bool isLarger(const Element &other) const {
    if (magnitude.isNaN() || other.magnitude.isNaN())
      return magnitude.isNaN() && !other.magnitude.isNaN();
    return magnitude.compare(other.magnitude) == APFloat::cmpGreaterThan;
  }
};

/// The L1 norm of a pattern, in the order in which programs add it up.
template <typename Float>
struct PatternNorm {
  int64_t numNaNs = 0, numInfinities = 0;
  Float sum = 0;

  PatternNorm operator+(const PatternNorm &other) const {
    return {numNaNs + other.numNaNs, numInfinities + other.numInfinities,
            sum + other.sum};
  }
  bool operator<(const PatternNorm &other) const {
    return std::tie(numNaNs, numInfinities, sum) <
           std::tie(other.numNaNs, other.numInfinities, other.sum);
  }
};
} // namespace

SmallVector<uint16_t> sparse_autograd::listOptimalPatterns(int64_t rows,
                                                           int64_t columns) {
  uint16_t present = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      present |= uint16_t(1) << getTileBit(row, column);
  SmallVector<uint16_t> patterns;
  int most = 0;
  // Numbers whose first bit is that of the first element, largest first: in
  // the order of the definition.
  for (uint32_t number = 1 << 16; number-- > 0;) {
    uint16_t pattern = llvm::reverseBits<uint16_t>(number);
    if ((pattern & ~present) != 0)
      continue;
    bool isLegal = true;
    for (int64_t i = 0; i < tileExtent; ++i)
      isLegal &= llvm::popcount(uint16_t(pattern & (0xF << (4 * i)))) <= 2 &&
                 llvm::popcount(uint16_t(pattern & (0x1111 << i))) <= 2;
    int count = llvm::popcount(pattern);
    if (!isLegal || count < most)
      continue;
    if (count > most)
      patterns.clear();
    most = count;
    patterns.push_back(pattern);
  }
  return patterns;
}

template <typename Float>
static uint16_t chooseOptimal(ArrayRef<Element> elements, int64_t rows,
                              int64_t columns) {
  using Norm = PatternNorm<Float>;
  Norm norms[tileExtent][tileExtent];
  for (const Element &element : elements) {
    Norm &norm = norms[element.row][element.column];
    if (element.magnitude.isNaN())
      norm.numNaNs = 1;
    else if (element.magnitude.isInfinity())
      norm.numInfinities = 1;
    else
      norm.sum = static_cast<Float>(element.magnitude.convertToDouble());
  }
  auto normOf = [&](uint16_t pattern) {
    Norm ofRow[tileExtent];
    for (int64_t row = 0; row < tileExtent; ++row)
      for (int64_t column = 0; column < tileExtent; ++column)
        if ((pattern >> getTileBit(row, column)) & 1)
          ofRow[row] = ofRow[row] + norms[row][column];
    return (ofRow[0] + ofRow[1]) + (ofRow[2] + ofRow[3]);
  };
  SmallVector<uint16_t> patterns = listOptimalPatterns(rows, columns);
  uint16_t best = patterns.front();
  for (uint16_t pattern : ArrayRef(patterns).drop_front())
    if (normOf(best) < normOf(pattern))
      best = pattern;
  return best;
}

uint16_t sparse_autograd::chooseOfTile(Selection24 select,
                                       ArrayRef<APFloat> values, int64_t rows,
                                       int64_t columns) {
  SmallVector<Element> elements;
  for (auto [number, value] : llvm::enumerate(values))
    elements.push_back({static_cast<int64_t>(number) / columns,
                        static_cast<int64_t>(number) % columns, abs(value)});
  if (select == Selection24::Optimal)
    return &values.front().getSemantics() == &APFloat::IEEEdouble()
               ? chooseOptimal<double>(elements, rows, columns)
               : chooseOptimal<float>(elements, rows, columns);

  llvm::sort(elements, [&](const Element &a, const Element &b) {
    if (select != Selection24::Greedy && a.row != b.row)
      return a.row < b.row;
    if (a.isLarger(b) || b.isLarger(a))
      return a.isLarger(b);
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });
  if (select == Selection24::RowWise) {
    uint16_t kept = 0;
    for (auto [number, element] : llvm::enumerate(elements))
      if (static_cast<int64_t>(number) % columns < maxKept)
        kept |= uint16_t(1) << getTileBit(element.row, element.column);
    return kept;
  }
  KeptElements kept;
  for (const Element &element : elements) {
    int64_t limit =
        select == Selection24::Greedy ? maxKept : causalRowLimits[element.row];
    if (kept.hasRoom(element.row, element.column, limit))
      kept.keep(element.row, element.column);
  }
  return kept.getBits();
}

SmallVector<uint16_t>
sparse_autograd::chooseOfConstant(Selection24 select,
                                  DenseElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  int64_t numRows = type.getShape().end()[-2];
  int64_t numColumns = type.getShape().back();
  SmallVector<uint16_t> choices;
  if (type.getNumElements() == 0)
    return choices;
  auto values = elements.getValues<APFloat>();
  int64_t numMatrices = type.getNumElements() / (numRows * numColumns);
  for (int64_t matrix = 0; matrix < numMatrices; ++matrix)
    for (int64_t row = 0; row < numRows; row += tileExtent)
      for (int64_t column = 0; column < numColumns; column += tileExtent) {
        int64_t rows = std::min(tileExtent, numRows - row);
        int64_t columns = std::min(tileExtent, numColumns - column);
        SmallVector<APFloat> tile;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j)
            tile.push_back(
                values[(matrix * numRows + row + i) * numColumns + column + j]);
        choices.push_back(chooseOfTile(select, tile, rows, columns));
      }
  return choices;
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

Value sparse_autograd::createChoiceMask(OpBuilder &builder, Location loc,
                                        Value choice, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(tensor::DimOp::create(builder, loc, like, dim));
  return Mask24Op::create(builder, loc, type.clone(builder.getI1Type()), choice,
                          extents);
}

Value sparse_autograd::createSelected(OpBuilder &builder, Location loc,
                                      Value value, Value mask) {
  return createElementwise(
      builder, loc, {value, mask}, mask, getElementTypeOrSelf(value.getType()),
      [](OpBuilder &nested, Location loc, ValueRange elements) -> Value {
        Value zero = arith::ConstantOp::create(
            nested, loc, nested.getZeroAttr(elements[0].getType()));
        return arith::SelectOp::create(nested, loc, elements[1], elements[0],
                                       zero);
      });
}

Value sparse_autograd::createTransposedMatrices(OpBuilder &builder,
                                                Location loc, Value value,
                                                Value like) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> extents = tensor::getMixedSizes(builder, loc, like);
  std::swap(extents[rank - 2], extents[rank - 1]);
  Value empty =
      tensor::EmptyOp::create(builder, loc, extents, type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<AffineExpr> read(identity.getResults());
  std::swap(read[rank - 2], read[rank - 1]);
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  return createStructured(
             builder, loc, value, empty,
             {AffineMap::get(rank, 0, read, builder.getContext()), identity},
             parallel,
             [](OpBuilder &nested, Location loc, ValueRange elements) {
               linalg::YieldOp::create(nested, loc, elements[0]);
             })
      ->getResult(0);
}

SmallVector<Value>
sparse_autograd::createSelections(OpBuilder &builder, Location loc,
                                  Selection24 select, Value value, Value choice,
                                  Value mask, TypeRange types) {
  SmallVector<Value> selected;
  Value dense;
  for (auto [number, type] : llvm::enumerate(types)) {
    if (isSparse(type)) {
      selected.push_back(Compress24Op::create(builder, loc, type, value, choice,
                                              /*transposed=*/number == 1,
                                              select != Selection24::RowWise));
      continue;
    }
    if (!dense)
      dense = createSelected(builder, loc, value, mask);
    Value whole = number == 0
                      ? dense
                      : createTransposedMatrices(builder, loc, dense, mask);
    if (whole.getType() != type)
      whole = tensor::CastOp::create(builder, loc, type, whole);
    selected.push_back(whole);
  }
  return selected;
}
