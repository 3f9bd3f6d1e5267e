//===- Packing24.cpp - 2:4 tensors from dense ones ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the CPU the runtime packs, both orders of one tensor in one pass; what is
// constant is packed here. What kernels do on a device is in
// DevicePacking24.cpp.
//
//===----------------------------------------------------------------------===//

#include "Packing24.h"
#include "PackedLists.h"
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
    PackedLists packed = PackedLists::of(rewriter, op);
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
    SmallVector<Compress24Op> ops = getBothOrders(op);
    SmallVector<PackedLists> packed;
    SmallVector<Value> lists;
    SmallVector<bool> orders;
    for (Compress24Op each : ops) {
      packed.push_back(PackedLists::of(rewriter, each));
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
    PackedLists packed = PackedLists::of(rewriter, op);
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

void sparse_autograd::populatePacking24Patterns(const TypeConverter &types,
                                                bool forDevice,
                                                RewritePatternSet &patterns) {
  if (forDevice)
    populateDevicePacking24Patterns(types, patterns);
  else
    patterns.add<PackChoice, PackNonzeros>(types, patterns.getContext());
  patterns.add<PackConstant>(types, patterns.getContext(), /*benefit=*/2);
}
