//===- DevicePacking24.cpp - 2:4 tensors by kernels -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists are packed in the order in which products read them, row by row, both
// orders of one choice by one kernel that reads each element once: a thread has
// a block of elements that are whole bytes of metadata of both. Where extents
// are no multiples of a block, rows begin within bytes; then an element of each
// list follows from its number, and from the choice of the tile that it is in.
//
//===----------------------------------------------------------------------===//

#include "PackedLists.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// Builds arithmetic of indices and of bits of an i64.
class BitBuilder {
protected:
  BitBuilder(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  }
  Value bits(uint64_t number) {
    return arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(static_cast<int64_t>(number)));
  }
  template <typename OpTy>
  Value build(Value x, Value y) {
    return OpTy::create(b, loc, x, y);
  }

  OpBuilder &b;
  Location loc;
};
} // namespace

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

namespace {
/// Elements of the lists of one compress_24.
class ElementBuilder : BitBuilder {
public:
  ElementBuilder(OpBuilder &builder, Location loc, Compress24Op op,
                 const PackedLists &packed)
      : BitBuilder(builder, loc), op(op), packed(packed) {}

  /// The kept elements of a group, as an i64, and its metadata.
  Value getKept(Value group);
  Value getNibble(Value kept);
  Value getValue(Value element);
  Value getByte(Value number);

private:
  Value toBits(Value number) {
    return arith::IndexCastUIOp::create(b, loc, b.getI64Type(), number);
  }
  /// The place of the first element of a group in the stored tensor.
  SmallVector<Value> getPlace(Value group);

  Compress24Op op;
  const PackedLists &packed;
};
} // namespace

SmallVector<Value> ElementBuilder::getPlace(Value group) {
  SmallVector<Value> place(packed.extents.size());
  place.back() = build<arith::RemUIOp>(group, packed.rowGroups);
  Value rest = build<arith::DivUIOp>(group, packed.rowGroups);
  for (size_t dim = place.size() - 1; dim-- > 0;) {
    place[dim] =
        dim == 0 ? rest : build<arith::RemUIOp>(rest, packed.extents[dim]);
    if (dim > 0)
      rest = build<arith::DivUIOp>(rest, packed.extents[dim]);
  }
  return place;
}

Value ElementBuilder::getKept(Value group) {
  SmallVector<Value> place = getPlace(group);
  Value line = place.end()[-2];
  Value inTile = toBits(build<arith::RemUIOp>(line, index(tileExtent)));
  place.end()[-2] = build<arith::DivUIOp>(line, index(tileExtent));
  if (op.getTransposed())
    std::swap(place.end()[-2], place.end()[-1]);
  Value choice = arith::ExtUIOp::create(
      b, loc, b.getI64Type(),
      tensor::ExtractOp::create(b, loc, op.getChoice(), place));
  if (!op.getTransposed())
    return build<arith::AndIOp>(
        build<arith::ShRUIOp>(choice,
                              build<arith::MulIOp>(inTile, bits(tileExtent))),
        bits(0xF));
  Value column =
      build<arith::AndIOp>(build<arith::ShRUIOp>(choice, inTile), bits(0x1111));
  Value kept = column;
  for (int64_t row = 1; row < tileExtent; ++row)
    kept = build<arith::OrIOp>(
        kept, build<arith::ShRUIOp>(column, bits((tileExtent - 1) * row)));
  return build<arith::AndIOp>(kept, bits(0xF));
}

Value ElementBuilder::getNibble(Value kept) {
  Value shift = build<arith::MulIOp>(kept, bits(4));
  return build<arith::AndIOp>(
      build<arith::ShRUIOp>(bits(getNibbleTable()), shift), bits(0xF));
}

Value ElementBuilder::getValue(Value element) {
  Value group = build<arith::DivUIOp>(element, index(2));
  Value kept = getKept(group);
  Value slot = toBits(build<arith::RemUIOp>(element, index(2)));
  Value coordinate = build<arith::AndIOp>(
      build<arith::ShRUIOp>(getNibble(kept),
                            build<arith::MulIOp>(slot, bits(2))),
      bits(3));
  Value isKept = arith::TruncIOp::create(
      b, loc, b.getI1Type(), build<arith::ShRUIOp>(kept, coordinate));
  SmallVector<Value> place = getPlace(group);
  place.back() = build<arith::AddIOp>(
      build<arith::MulIOp>(place.back(), index(tileExtent)),
      arith::IndexCastUIOp::create(b, loc, b.getIndexType(), coordinate));
  // What is outside of the tensor is not kept.
  Value last = build<arith::SubIOp>(packed.extents.back(), index(1));
  place.back() = build<arith::MinUIOp>(place.back(), last);
  if (op.getTransposed())
    std::swap(place.end()[-2], place.end()[-1]);
  Value read = tensor::ExtractOp::create(b, loc, op.getInput(), place);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(read.getType()));
  return arith::SelectOp::create(b, loc, isKept, read, zero);
}

Value ElementBuilder::getByte(Value number) {
  Value byte;
  for (int64_t half = 0; half < 2; ++half) {
    Value group = build<arith::AddIOp>(build<arith::MulIOp>(number, index(2)),
                                       index(half));
    Value last = build<arith::SubIOp>(packed.groups, index(1));
    Value kept = getKept(build<arith::MinUIOp>(group, last));
    Value isGroup = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          group, packed.groups);
    Value nibble =
        getNibble(arith::SelectOp::create(b, loc, isGroup, kept, bits(0)));
    byte =
        half == 0
            ? nibble
            : build<arith::OrIOp>(byte, build<arith::ShLIOp>(nibble, bits(4)));
  }
  return arith::TruncIOp::create(b, loc, b.getI8Type(), byte);
}

/// Values and coordinates of the result of `op`, each by a structured op.
static SmallVector<Value> packByElements(OpBuilder &builder, Compress24Op op,
                                         const PackedLists &packed) {
  auto fill = [&](Value list,
                  Value (ElementBuilder::*element)(Value)) -> Value {
    return linalg::GenericOp::create(
               builder, op.getLoc(), list.getType(), ValueRange(), list,
               builder.getMultiDimIdentityMap(1), utils::IteratorType::parallel,
               [&](OpBuilder &nested, Location loc, ValueRange) {
                 Value number = linalg::IndexOp::create(nested, loc, 0);
                 ElementBuilder elements(nested, loc, op, packed);
                 linalg::YieldOp::create(nested, loc,
                                         (elements.*element)(number));
               })
        .getResult(0);
  };
  Value values = fill(packed.values, &ElementBuilder::getValue);
  Value coordinates = fill(packed.coordinates, &ElementBuilder::getByte);
  return {values, coordinates};
}

//===----------------------------------------------------------------------===//
// Block by block
//===----------------------------------------------------------------------===//

namespace {
/// Packs the results of one op, or of two of both orders, by one loop.
class BlockPacker : BitBuilder {
public:
  BlockPacker(OpBuilder &builder, ArrayRef<Compress24Op> ops,
              ArrayRef<PackedLists> packed);

  /// Whether the matrix consists of whole blocks: a value of the host.
  Value createIsWhole();
  /// Values and coordinates of each result, in turn.
  SmallVector<Value> pack();

private:
  /// What a group stores: two values, and the nibble of an i8.
  struct Group {
    Value first, second, nibble;
  };

  Value getBit(Value number, int64_t place) {
    return arith::TruncIOp::create(b, loc, b.getI1Type(),
                                   build<arith::ShRUIOp>(number, bits(place)));
  }
  void readBlock(ArrayRef<Value> batch, Value row, Value column);
  Value getKept(int64_t line, int64_t group, bool isTransposed);
  Group packGroup(Value kept, ArrayRef<Value> elements);
  void storeLines(unsigned number, ArrayRef<Value> batch, Value firstLine,
                  Value firstGroup, MutableArrayRef<Value> lists);
  SmallVector<Value> packBlock(ArrayRef<Value> batch, Value row, Value column,
                               ValueRange lists);

  ArrayRef<Compress24Op> ops;
  ArrayRef<PackedLists> packed;
  Value input, choice;
  /// Those of the stored matrices, in the order of rows.
  SmallVector<Value> extents;
  /// The rows and columns of a block: of two tiles where the metadata of a row,
  /// or of a column, is to have whole bytes.
  int64_t rows = tileExtent, columns = tileExtent;
  /// Of the block: elements row by row, and choices.
  SmallVector<Value> elements, tiles;
};
} // namespace

/// Blocks under one another whose threads are neighbours: they write the lines
/// of the transposed matrix side by side, and read whole sectors all the same.
static constexpr int64_t blocksDown = 4;

BlockPacker::BlockPacker(OpBuilder &builder, ArrayRef<Compress24Op> ops,
                         ArrayRef<PackedLists> packed)
    : BitBuilder(builder, ops.front()->getLoc()), ops(ops), packed(packed),
      input(Compress24Op(ops.front()).getInput()),
      choice(Compress24Op(ops.front()).getChoice()),
      extents(packed.front().extents) {
  for (Compress24Op op : ops)
    (op.getTransposed() ? rows : columns) = 2 * tileExtent;
  if (Compress24Op(ops.front()).getTransposed())
    std::swap(extents.end()[-2], extents.end()[-1]);
}

Value BlockPacker::createIsWhole() {
  auto isWhole = [&](Value extent, int64_t ofBlock) {
    Value rest = b.createOrFold<arith::RemUIOp>(loc, extent, index(ofBlock));
    return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rest,
                                         index(0));
  };
  Value ofRows = isWhole(extents.end()[-2], rows);
  return b.createOrFold<arith::AndIOp>(loc, ofRows,
                                       isWhole(extents.back(), columns));
}

void BlockPacker::readBlock(ArrayRef<Value> batch, Value row, Value column) {
  auto place = llvm::to_vector(batch);
  place.append({row, column});
  elements.clear();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      place.end()[-2] = build<arith::AddIOp>(row, index(i));
      place.end()[-1] = build<arith::AddIOp>(column, index(j));
      elements.push_back(tensor::ExtractOp::create(b, loc, input, place));
    }
  tiles.clear();
  Value tileRow = build<arith::DivUIOp>(row, index(tileExtent));
  Value tileColumn = build<arith::DivUIOp>(column, index(tileExtent));
  for (int64_t i = 0; i < rows / tileExtent; ++i)
    for (int64_t j = 0; j < columns / tileExtent; ++j) {
      place.end()[-2] = build<arith::AddIOp>(tileRow, index(i));
      place.end()[-1] = build<arith::AddIOp>(tileColumn, index(j));
      tiles.push_back(arith::ExtUIOp::create(
          b, loc, b.getI64Type(),
          tensor::ExtractOp::create(b, loc, choice, place)));
    }
}

/// What is kept of a group of row `line` of the block, or of a column.
Value BlockPacker::getKept(int64_t line, int64_t group, bool isTransposed) {
  int64_t row = isTransposed ? group : line / tileExtent;
  int64_t column = isTransposed ? line / tileExtent : group;
  Value tile = tiles[row * (columns / tileExtent) + column];
  Value inLine = bits(line % tileExtent);
  if (!isTransposed) {
    Value shift = bits(line % tileExtent * tileExtent);
    return build<arith::AndIOp>(build<arith::ShRUIOp>(tile, shift), bits(0xF));
  }
  Value ofColumn =
      build<arith::AndIOp>(build<arith::ShRUIOp>(tile, inLine), bits(0x1111));
  Value kept = ofColumn;
  for (int64_t i = 1; i < tileExtent; ++i)
    kept = build<arith::OrIOp>(
        kept, build<arith::ShRUIOp>(ofColumn, bits((tileExtent - 1) * i)));
  return build<arith::AndIOp>(kept, bits(0xF));
}

BlockPacker::Group BlockPacker::packGroup(Value kept, ArrayRef<Value> ofGroup) {
  Value nibble = build<arith::AndIOp>(
      build<arith::ShRUIOp>(bits(getNibbleTable()),
                            build<arith::MulIOp>(kept, bits(4))),
      bits(0xF));
  Value zero = arith::ConstantOp::create(
      b, loc, b.getZeroAttr(ofGroup.front().getType()));
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  };
  auto getStored = [&](int64_t slot) {
    Value coordinate = build<arith::AndIOp>(
        build<arith::ShRUIOp>(nibble, bits(2 * slot)), bits(3));
    Value isOdd = getBit(coordinate, 0);
    Value element =
        select(getBit(coordinate, 1), select(isOdd, ofGroup[3], ofGroup[2]),
               select(isOdd, ofGroup[1], ofGroup[0]));
    Value isKept = arith::TruncIOp::create(
        b, loc, b.getI1Type(), build<arith::ShRUIOp>(kept, coordinate));
    return select(isKept, element, zero);
  };
  Value first = getStored(0);
  return {first, getStored(1), nibble};
}

/// Stores the lines of the block in the order of result `number`: two groups of
/// each, from group `firstGroup` of line `firstLine` on.
void BlockPacker::storeLines(unsigned number, ArrayRef<Value> batch,
                             Value firstLine, Value firstGroup,
                             MutableArrayRef<Value> lists) {
  bool isTransposed = Compress24Op(ops[number]).getTransposed();
  const PackedLists &order = packed[number];
  Value before = index(0);
  for (auto [dim, place] : llvm::enumerate(batch))
    before = build<arith::AddIOp>(
        build<arith::MulIOp>(before, order.extents[dim]), place);
  before = build<arith::MulIOp>(before, order.extents.end()[-2]);
  int64_t lines = isTransposed ? columns : rows;
  constexpr int64_t groupsOfLine = 2;
  for (int64_t line = 0; line < lines; ++line) {
    SmallVector<Value> stored, nibbles;
    for (int64_t group = 0; group < groupsOfLine; ++group) {
      SmallVector<Value> ofGroup;
      for (int64_t i = 0; i < tileExtent; ++i) {
        int64_t inLine = group * tileExtent + i;
        ofGroup.push_back(isTransposed ? elements[inLine * columns + line]
                                       : elements[line * columns + inLine]);
      }
      Group packedGroup =
          packGroup(getKept(line, group, isTransposed), ofGroup);
      stored.append({packedGroup.first, packedGroup.second});
      nibbles.push_back(packedGroup.nibble);
    }
    Value row = build<arith::AddIOp>(
        before, build<arith::AddIOp>(firstLine, index(line)));
    Value place = build<arith::AddIOp>(
        build<arith::MulIOp>(row, order.rowGroups), firstGroup);
    Value first = build<arith::MulIOp>(place, index(2));
    for (auto [i, value] : llvm::enumerate(stored))
      lists[0] = tensor::InsertOp::create(
          b, loc, value, lists[0],
          ValueRange(build<arith::AddIOp>(first, index(i))));
    Value byte = build<arith::OrIOp>(nibbles[0],
                                     build<arith::ShLIOp>(nibbles[1], bits(4)));
    lists[1] = tensor::InsertOp::create(
        b, loc, arith::TruncIOp::create(b, loc, b.getI8Type(), byte), lists[1],
        ValueRange(build<arith::DivUIOp>(place, index(groupsOfLine))));
  }
}

SmallVector<Value> BlockPacker::packBlock(ArrayRef<Value> batch, Value row,
                                          Value column, ValueRange before) {
  SmallVector<Value> lists(before);
  readBlock(batch, row, column);
  for (auto [number, op] : llvm::enumerate(ops)) {
    Value line = row, along = column;
    if (Compress24Op(op).getTransposed())
      std::swap(line, along);
    storeLines(number, batch, line,
               build<arith::DivUIOp>(along, index(tileExtent)),
               MutableArrayRef(lists).slice(2 * number, 2));
  }
  return lists;
}

SmallVector<Value> BlockPacker::pack() {
  SmallVector<Value> lists;
  for (const PackedLists &order : packed)
    lists.append({order.values, order.coordinates});
  Value down =
      b.createOrFold<arith::DivUIOp>(loc, extents.end()[-2], index(rows));
  SmallVector<Value> counts(ArrayRef(extents).drop_back(2));
  counts.push_back(
      b.createOrFold<arith::CeilDivUIOp>(loc, down, index(blocksDown)));
  counts.push_back(
      b.createOrFold<arith::DivUIOp>(loc, extents.back(), index(columns)));
  counts.push_back(index(blocksDown));
  Value zero = index(0), one = index(1);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> variables;
  scf::ForOp outermost;
  for (Value count : counts) {
    auto loop = scf::ForOp::create(b, loc, zero, count, one, lists);
    setParallel(loop);
    if (outermost)
      scf::YieldOp::create(b, loc, loop.getResults());
    else
      outermost = loop;
    lists = SmallVector<Value>(loop.getRegionIterArgs());
    variables.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  auto batch = ArrayRef(variables).drop_back(3);
  Value blockRow = build<arith::AddIOp>(
      build<arith::MulIOp>(variables.end()[-3], index(blocksDown)),
      variables.end()[-1]);
  Value isThere =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, blockRow, down);
  auto branch = scf::IfOp::create(b, loc, TypeRange(ValueRange(lists)), isThere,
                                  /*withElseRegion=*/true);
  scf::YieldOp::create(b, loc, branch.getResults());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, lists);
  b.setInsertionPointToStart(branch.thenBlock());
  Value row = build<arith::MulIOp>(blockRow, index(rows));
  Value column = build<arith::MulIOp>(variables.end()[-2], index(columns));
  scf::YieldOp::create(b, loc, packBlock(batch, row, column, lists));
  return SmallVector<Value>(outermost.getResults());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// compress_24, and the one of the same tensor and choice in the other order.
struct PackOnDevice : OpConversionPattern<Compress24Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Compress24Op op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Compress24Op> ops = getBothOrders(op);
    auto packed = llvm::map_to_vector(ops, [&](Compress24Op each) {
      return PackedLists::of(rewriter, each);
    });
    BlockPacker blocks(rewriter, ops, packed);
    auto packEach = [&] {
      SmallVector<Value> lists;
      for (auto [each, order] : llvm::zip_equal(ops, packed))
        llvm::append_range(lists, packByElements(rewriter, each, order));
      return lists;
    };
    Value isWhole = blocks.createIsWhole();
    SmallVector<Value> lists;
    if (matchPattern(isWhole, m_One())) {
      lists = blocks.pack();
    } else if (matchPattern(isWhole, m_Zero())) {
      lists = packEach();
    } else {
      SmallVector<Type> types;
      for (const PackedLists &order : packed)
        types.append({order.values.getType(), order.coordinates.getType()});
      auto branch = scf::IfOp::create(rewriter, loc, types, isWhole,
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(rewriter, loc, blocks.pack());
      rewriter.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(rewriter, loc, packEach());
      lists = SmallVector<Value>(branch.getResults());
    }
    for (auto [number, each] : llvm::enumerate(ops))
      rewriter.replaceOpWithMultiple(
          each, {packed[number].getComponents(lists[2 * number + 1],
                                              lists[2 * number])});
    return success();
  }
};
} // namespace

void sparse_autograd::populateDevicePacking24Patterns(
    const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<PackOnDevice>(types, patterns.getContext());
}
