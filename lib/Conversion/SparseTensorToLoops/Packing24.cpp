//===- Packing24.cpp - 2:4 tensors from dense ones ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the CPU the runtime packs, both orders of one tensor in one pass; what is
// constant is packed here. On a device the lists are structured ops: an element
// of each follows from its number, and from the choice of the tile that it is
// in.
//
//===----------------------------------------------------------------------===//

#include "Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "SparseStorage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

bool sparse_autograd::isCompression24(sparse_tensor::ConvertOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return !isSparse(op.getSource().getType()) && isPacked24(type) &&
         isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(
             type.getElementType());
}

namespace {
/// The components of one tensor to make.
struct PackedLists {
  PackedLists(OpBuilder &builder, Location loc, RankedTensorType type,
              ArrayRef<Value> extents);

  /// All components, of which the first two are `values` and `coordinates`.
  SmallVector<Value> getComponents(Value coordinates, Value values) const {
    SmallVector<Value> components = {coordinates, values};
    for (auto [dim, extent] : llvm::enumerate(extents))
      if (type.isDynamicDim(dim))
        components.push_back(extent);
    return components;
  }

  RankedTensorType type;
  SmallVector<Value> extents;
  /// Groups of a row, and of all rows.
  Value rowGroups, groups;
  /// Not filled.
  Value values, coordinates;
};
} // namespace

PackedLists::PackedLists(OpBuilder &builder, Location loc,
                         RankedTensorType type, ArrayRef<Value> extents)
    : type(type), extents(extents) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  rowGroups = arith::CeilDivUIOp::create(builder, loc, extents.back(),
                                         constant(tileExtent));
  groups = rowGroups;
  for (Value extent : ArrayRef(extents).drop_back())
    groups = arith::MulIOp::create(builder, loc, groups, extent);
  Value two = constant(2);
  values = tensor::EmptyOp::create(
      builder, loc,
      ArrayRef<OpFoldResult>{
          Value(arith::MulIOp::create(builder, loc, groups, two))},
      type.getElementType());
  coordinates = tensor::EmptyOp::create(
      builder, loc,
      ArrayRef<OpFoldResult>{
          Value(arith::CeilDivUIOp::create(builder, loc, groups, two))},
      builder.getI8Type());
}

static SmallVector<Value> getExtents(OpBuilder &builder, Location loc,
                                     Value tensor) {
  return llvm::map_to_vector(tensor::getMixedSizes(builder, loc, tensor),
                             [&](OpFoldResult extent) -> Value {
                               return getValueOrCreateConstantIndexOp(
                                   builder, loc, extent);
                             });
}

/// For each set of the elements of a group that are kept, as four bits, the
/// nibble of the metadata, all in one number.
static uint64_t getNibbleTable() {
  uint64_t table = 0;
  for (uint64_t kept = 0; kept < 16; ++kept) {
    SmallVector<uint64_t> stored;
    for (uint64_t i = 0; i < 4; ++i)
      if ((kept >> i) & 1)
        stored.push_back(i);
    for (uint64_t i = 4; i-- > 0 && stored.size() < 2;)
      if (!((kept >> i) & 1))
        stored.push_back(i);
    llvm::sort(stored);
    table |= (stored[0] | stored[1] << 2) << (4 * kept);
  }
  return table;
}

//===----------------------------------------------------------------------===//
// Of constants
//===----------------------------------------------------------------------===//

namespace {
/// compress_24 of a constant by a constant choice.
struct PackConstant : OpConversionPattern<Compress24Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Compress24Op op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    DenseElementsAttr input, choice;
    if (!op.getChoice() || !matchPattern(op.getInput(), m_Constant(&input)) ||
        !matchPattern(op.getChoice(), m_Constant(&choice)) || input.empty())
      return failure();
    Location loc = op.getLoc();
    SmallVector<Value> extents = getExtents(rewriter, loc, op.getInput());
    if (op.getTransposed())
      std::swap(extents.end()[-2], extents.end()[-1]);
    PackedLists packed(rewriter, loc, op.getType(), extents);
    SmallVector<APFloat> values;
    SmallVector<uint8_t> bytes;
    pack(input, choice, op.getTransposed(), values, bytes);
    auto list = [&](DenseElementsAttr elements, Type type) -> Value {
      return tensor::CastOp::create(
          rewriter, loc, type,
          arith::ConstantOp::create(rewriter, loc, elements));
    };
    auto typeOf = [](size_t length, Type element) {
      return RankedTensorType::get({static_cast<int64_t>(length)}, element);
    };
    Value stored =
        list(DenseElementsAttr::get(
                 typeOf(values.size(), input.getElementType()), values),
             packed.values.getType());
    Value coordinates =
        list(DenseElementsAttr::get(typeOf(bytes.size(), rewriter.getI8Type()),
                                    ArrayRef(bytes)),
             packed.coordinates.getType());
    rewriter.replaceOpWithMultiple(op,
                                   {packed.getComponents(coordinates, stored)});
    return success();
  }

private:
  static void pack(DenseElementsAttr input, DenseElementsAttr choice,
                   bool isTransposed, SmallVectorImpl<APFloat> &values,
                   SmallVectorImpl<uint8_t> &bytes);
};
} // namespace

/// The lists of `input`, matrices or, `isTransposed`, their transposes.
void PackConstant::pack(DenseElementsAttr input, DenseElementsAttr choice,
                        bool isTransposed, SmallVectorImpl<APFloat> &values,
                        SmallVectorImpl<uint8_t> &bytes) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
  int64_t rows = shape.end()[-2], columns = shape.back();
  int64_t lines = isTransposed ? columns : rows;
  int64_t elements = isTransposed ? rows : columns;
  int64_t tileRows = llvm::divideCeil(rows, tileExtent);
  int64_t tileColumns = llvm::divideCeil(columns, tileExtent);
  int64_t matrices =
      rows * columns == 0 ? 0 : input.getNumElements() / (rows * columns);
  auto of = input.getValues<APFloat>();
  auto choices = choice.getValues<uint16_t>();
  APFloat zero = APFloat::getZero(
      cast<FloatType>(input.getElementType()).getFloatSemantics());
  uint64_t table = getNibbleTable();
  int64_t groups = 0;
  for (int64_t line = 0; line < matrices * lines; ++line)
    for (int64_t begin = 0; begin < elements; begin += tileExtent, ++groups) {
      int64_t matrix = line / lines;
      auto place = [&](int64_t i) {
        int64_t inLine = line % lines, element = begin + i;
        return isTransposed ? std::pair(element, inLine)
                            : std::pair(inLine, element);
      };
      unsigned kept = 0;
      for (int64_t i = 0; i < tileExtent; ++i) {
        auto [row, column] = place(i);
        uint16_t tile =
            choices[(matrix * tileRows + row / tileExtent) * tileColumns +
                    column / tileExtent];
        kept |=
            unsigned(tile >> getTileBit(row % tileExtent, column % tileExtent) &
                     1)
            << i;
      }
      auto nibble = static_cast<uint8_t>(table >> (4 * kept) & 0xF);
      for (unsigned coordinate : {nibble & 3u, unsigned(nibble) >> 2}) {
        auto [row, column] = place(coordinate);
        values.push_back(kept >> coordinate & 1
                             ? of[(matrix * rows + row) * columns + column]
                             : zero);
      }
      // The last byte may have one group, beside an empty one.
      if (groups % 2 == 0)
        bytes.push_back(nibble | 0xE0);
      else
        bytes.back() = (bytes.back() & 0xF) | nibble << 4;
    }
}

//===----------------------------------------------------------------------===//
// By the runtime
//===----------------------------------------------------------------------===//

namespace {
/// compress_24, and the one of the same tensor and choice in the other order.
struct PackChoice : OpConversionPattern<Compress24Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Compress24Op op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getChoice())
      return failure();
    Location loc = op.getLoc();
    SmallVector<Compress24Op> ops = {op};
    for (Operation *user : op.getChoice().getUsers()) {
      auto other = dyn_cast<Compress24Op>(user);
      if (ops.size() == 1 && other && other->getBlock() == op->getBlock() &&
          op->isBeforeInBlock(other) && other.getInput() == op.getInput() &&
          other.getTransposed() != op.getTransposed())
        ops.push_back(other);
    }
    SmallVector<PackedLists> packed;
    SmallVector<Value> lists;
    SmallVector<bool> orders;
    for (Compress24Op each : ops) {
      SmallVector<Value> extents = getExtents(rewriter, loc, op.getInput());
      if (each.getTransposed())
        std::swap(extents.end()[-2], extents.end()[-1]);
      packed.emplace_back(rewriter, loc, each.getType(), extents);
      lists.append({packed.back().values, packed.back().coordinates});
      orders.push_back(each.getTransposed());
    }
    auto pack = Pack24Op::create(rewriter, loc, TypeRange(ValueRange(lists)),
                                 op.getInput(), op.getChoice(), lists, orders);
    for (auto [number, each] : llvm::enumerate(ops))
      rewriter.replaceOpWithMultiple(
          each, {packed[number].getComponents(pack->getResult(2 * number + 1),
                                              pack->getResult(2 * number))});
    return success();
  }
};

struct PackNonzeros : OpConversionPattern<Compress24Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Compress24Op op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getChoice())
      return failure();
    Location loc = op.getLoc();
    PackedLists packed(rewriter, loc, op.getType(),
                       getExtents(rewriter, loc, op.getInput()));
    SmallVector<Value> lists = {packed.values, packed.coordinates};
    auto pack = Pack24Op::create(
        rewriter, loc, TypeRange(ValueRange(lists)), op.getInput(),
        /*choice=*/Value(), lists, ArrayRef<bool>{false},
        /*level=*/static_cast<uint64_t>(op.getType().getRank()));
    rewriter.replaceOpWithMultiple(
        op, {packed.getComponents(pack->getResult(1), pack->getResult(0))});
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

namespace {
/// Elements of the lists of one compress_24.
class ElementBuilder {
public:
  ElementBuilder(OpBuilder &builder, Location loc, Compress24Op op,
                 const PackedLists &packed)
      : b(builder), loc(loc), op(op), packed(packed) {}

  /// The kept elements of a group, as an i64, and its metadata.
  Value getKept(Value group);
  Value getNibble(Value kept);
  Value getValue(Value element);
  Value getByte(Value number);

private:
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
  Value toBits(Value number) {
    return arith::IndexCastUIOp::create(b, loc, b.getI64Type(), number);
  }
  /// The place of the first element of a group in the stored tensor.
  SmallVector<Value> getPlace(Value group);

  OpBuilder &b;
  Location loc;
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

namespace {
struct CompressByElements : OpConversionPattern<Compress24Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Compress24Op op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> extents = getExtents(rewriter, loc, op.getInput());
    if (op.getTransposed())
      std::swap(extents.end()[-2], extents.end()[-1]);
    PackedLists packed(rewriter, loc, op.getType(), extents);
    auto fill = [&](Value list,
                    Value (ElementBuilder::*element)(Value)) -> Value {
      return linalg::GenericOp::create(
                 rewriter, loc, list.getType(), ValueRange(), list,
                 rewriter.getMultiDimIdentityMap(1),
                 utils::IteratorType::parallel,
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
    rewriter.replaceOpWithMultiple(op,
                                   {packed.getComponents(coordinates, values)});
    return success();
  }
};
} // namespace

void sparse_autograd::populatePacking24Patterns(const TypeConverter &types,
                                                bool forDevice,
                                                RewritePatternSet &patterns) {
  if (forDevice)
    patterns.add<CompressByElements>(types, patterns.getContext());
  else
    patterns.add<PackChoice, PackNonzeros>(types, patterns.getContext());
  patterns.add<PackConstant>(types, patterns.getContext(), /*benefit=*/2);
}
