//===- RowsToLoops.cpp - rows of sparse tables ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of a sum are found by sorting the indices, each row once, and the
// sums by going through the list in its order: the same bits every time. Memory
// and time depend on how many rows are read, not on the size of the table.
//
//===----------------------------------------------------------------------===//

#include "RowsToLoops.h"
#include "Assembly.h"
#include "LevelCursor.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Loops over the elements of a tensor of indices, and over the elements of a
/// row.
class RowLoops {
public:
  /// `rows` has a row for each element of `indices`.
  RowLoops(OpBuilder &builder, Location loc, Value indices, Value rows)
      : loc(loc), indices(indices) {
    zero = arith::ConstantIndexOp::create(builder, loc, 0);
    one = arith::ConstantIndexOp::create(builder, loc, 1);
    int64_t indexRank = cast<RankedTensorType>(indices.getType()).getRank();
    int64_t rank = cast<RankedTensorType>(rows.getType()).getRank();
    for (int64_t dim = 0; dim < indexRank; ++dim)
      indexExtents.push_back(tensor::DimOp::create(builder, loc, indices, dim));
    for (int64_t dim = indexRank; dim < rank; ++dim)
      rowExtents.push_back(tensor::DimOp::create(builder, loc, rows, dim));
  }

  Value getZero() const { return zero; }
  Value getOne() const { return one; }
  ArrayRef<Value> getRowExtents() const { return rowExtents; }

  Value getNumIndices(OpBuilder &builder) const {
    return getProduct(builder, indexExtents);
  }
  Value getRowSize(OpBuilder &builder) const {
    return getProduct(builder, rowExtents);
  }

  using Body = llvm::function_ref<SmallVector<Value>(
      OpBuilder &, ValueRange position, ValueRange carried)>;

  /// Goes through the indices in order.
  SmallVector<Value> forEachIndex(OpBuilder &builder, ValueRange carried,
                                  Body body) const {
    return build(builder, indexExtents, carried, body);
  }
  /// Goes through the elements of a row in order.
  SmallVector<Value> forEachElement(OpBuilder &builder, ValueRange carried,
                                    Body body) const {
    return build(builder, rowExtents, carried, body);
  }

  /// The index at `position`.
  Value getIndex(OpBuilder &builder, ValueRange position) const {
    Value index = tensor::ExtractOp::create(builder, loc, indices, position);
    return index.getType().isIndex()
               ? index
               : arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), index)
                     .getResult();
  }

private:
  Value getProduct(OpBuilder &builder, ArrayRef<Value> extents) const {
    Value product = one;
    for (Value extent : extents)
      product = arith::MulIOp::create(builder, loc, product, extent);
    return product;
  }

  SmallVector<Value> build(OpBuilder &builder, ArrayRef<Value> extents,
                           ValueRange carried, Body body) const {
    if (extents.empty())
      return body(builder, {}, carried);
    SmallVector<Value> begins(extents.size(), zero), steps(extents.size(), one);
    return llvm::to_vector(
        scf::buildLoopNest(
            builder, loc, begins, extents, steps, carried,
            [&](OpBuilder &nested, Location, ValueRange variables,
                ValueRange values) { return body(nested, variables, values); })
            .results);
  }

  Location loc;
  Value indices, zero, one;
  SmallVector<Value> indexExtents, rowExtents;
};

/// The place of `element` of row number `row` in the values.
Value getPlace(OpBuilder &builder, Location loc, Value row, ValueRange element,
               ArrayRef<Value> rowExtents) {
  Value place = row;
  for (auto [index, extent] : llvm::zip_equal(element, rowExtents)) {
    place = arith::MulIOp::create(builder, loc, place, extent);
    place = arith::AddIOp::create(builder, loc, place, index);
  }
  return place;
}

SmallVector<Value> concatenate(ValueRange a, ValueRange b) {
  SmallVector<Value> all(a);
  llvm::append_range(all, b);
  return all;
}

/// Asserts that a table of `extent` rows has row `index`.
void assertInside(OpBuilder &builder, Location loc, Value index, Value extent,
                  StringRef op) {
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, index, extent);
  cf::AssertOp::create(builder, loc, isInside,
                       (op + ": an index is out of range").str());
}

/// A list of the rows that `indices` names, stored as the rows of `type` are.
AssembledStorage assembleRows(OpBuilder &builder, Location loc,
                              const RowLoops &loops, RankedTensorType type,
                              Value extent) {
  Value count = loops.getNumIndices(builder);
  Value coordinates = tensor::EmptyOp::create(
      builder, loc, ArrayRef<OpFoldResult>{count, builder.getIndexAttr(1)},
      builder.getIndexType());
  auto list = [&](OpBuilder &nested, ValueRange position, ValueRange carried) {
    Value index = loops.getIndex(nested, position);
    assertInside(nested, loc, index, extent, ScatterRowsOp::getOperationName());
    Value next = arith::AddIOp::create(nested, loc, carried[1], loops.getOne());
    Value listed =
        tensor::InsertOp::create(nested, loc, index, carried[0],
                                 ValueRange{carried[1], loops.getZero()});
    return SmallVector<Value>{listed, next};
  };
  coordinates =
      loops.forEachIndex(builder, {coordinates, loops.getZero()}, list).front();
  auto encoding = sparse_tensor::getSparseTensorEncoding(type);
  auto listEncoding = sparse_tensor::SparseTensorEncodingAttr::get(
      builder.getContext(), encoding.getLvlTypes().take_front(),
      builder.getMultiDimIdentityMap(1), AffineMap(), encoding.getPosWidth(),
      encoding.getCrdWidth());
  auto listType = RankedTensorType::get(type.getShape().take_front(),
                                        type.getElementType(), listEncoding);
  return assembleStorage(builder, loc, listType, coordinates, count, extent);
}

struct LowerScatterRows : OpConversionPattern<ScatterRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ScatterRowsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value rows = adaptor.getRows().front();
    Value extent = adaptor.getExtent().front();
    auto type = cast<RankedTensorType>(op.getType());
    RowLoops loops(rewriter, loc, adaptor.getIndices().front(), rows);
    AssembledStorage storage = assembleRows(rewriter, loc, loops, type, extent);

    // Sums of f16 and bf16 are rounded once (semantics G11).
    Type elementType = type.getElementType();
    bool widens = elementType.isF16() || elementType.isBF16();
    Type sumType = widens ? rewriter.getF32Type() : elementType;
    Value numValues = arith::MulIOp::create(rewriter, loc, storage.numValues,
                                            loops.getRowSize(rewriter));
    Value sums = tensor::EmptyOp::create(
        rewriter, loc, ArrayRef<OpFoldResult>{numValues}, sumType);
    sums = createZeros(rewriter, loc, sums, sumType);
    auto addRow = [&](OpBuilder &nested, ValueRange position,
                      ValueRange carried) {
      Value row =
          tensor::ExtractOp::create(nested, loc, storage.slots, carried[1]);
      auto addElement = [&](OpBuilder &inner, ValueRange element,
                            ValueRange values) {
        Value added = tensor::ExtractOp::create(inner, loc, rows,
                                                concatenate(position, element));
        if (widens)
          added = arith::ExtFOp::create(inner, loc, sumType, added);
        Value place = getPlace(inner, loc, row, element, loops.getRowExtents());
        Value sum =
            tensor::ExtractOp::create(inner, loc, values.front(), place);
        sum = arith::AddFOp::create(inner, loc, sum, added);
        return SmallVector<Value>{
            tensor::InsertOp::create(inner, loc, sum, values.front(), place)};
      };
      Value values =
          loops.forEachElement(nested, carried[0], addElement).front();
      Value next =
          arith::AddIOp::create(nested, loc, carried[1], loops.getOne());
      return SmallVector<Value>{values, next};
    };
    Value values =
        loops.forEachIndex(rewriter, {sums, loops.getZero()}, addRow).front();
    if (widens)
      values = createElementwise(
          rewriter, loc, values, values, elementType,
          [&](OpBuilder &nested, Location loc, ValueRange sum) -> Value {
            return arith::TruncFOp::create(nested, loc, elementType, sum[0]);
          });

    SmallVector<Value> components = std::move(storage.lists);
    components.push_back(values);
    SmallVector<Value> extents = {extent};
    llvm::append_range(extents, loops.getRowExtents());
    for (auto [dim, value] : llvm::enumerate(extents))
      if (type.isDynamicDim(dim))
        components.push_back(value);
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }
};

/// Looks rows up; what is not stored is zero.
struct LowerGather : OpConversionPattern<GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(GatherOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SparseStorage table(op.getTable().getType(), adaptor.getTable());
    Value indices = adaptor.getIndices().front();
    RankedTensorType type = op.getType();
    SmallVector<OpFoldResult> extents =
        tensor::getMixedSizes(rewriter, loc, indices);
    for (unsigned dim = 1; dim < op.getTable().getType().getRank(); ++dim)
      extents.push_back(getAsOpFoldResult(table.getExtent(rewriter, loc, dim)));
    Value rows =
        tensor::EmptyOp::create(rewriter, loc, extents, type.getElementType());
    if (rows.getType() != type)
      rows = tensor::CastOp::create(rewriter, loc, type, rows);
    rows = createZeros(rewriter, loc, rows, type.getElementType());
    RowLoops loops(rewriter, loc, indices, rows);
    Value numRows = table.getExtent(rewriter, loc, 0);
    auto copyRow = [&](OpBuilder &nested, ValueRange position,
                       ValueRange carried) {
      Value index = loops.getIndex(nested, position);
      assertInside(nested, loc, index, numRows, GatherOp::getOperationName());
      auto [cursor, isStored] = LevelCursor(table).locate(nested, loc, index);
      auto found = scf::IfOp::create(nested, loc, carried.getTypes(), isStored,
                                     /*withElseRegion=*/true);
      OpBuilder stored = found.getThenBodyBuilder();
      auto copyElement = [&](OpBuilder &inner, ValueRange element,
                             ValueRange values) {
        LevelCursor place = cursor;
        for (Value coordinate : element)
          place = place.locate(inner, loc, coordinate).first;
        Value value = tensor::ExtractOp::create(inner, loc, table.getValues(),
                                                place.getPosition());
        return SmallVector<Value>{tensor::InsertOp::create(
            inner, loc, value, values.front(), concatenate(position, element))};
      };
      scf::YieldOp::create(stored, loc,
                           loops.forEachElement(stored, carried, copyElement));
      OpBuilder absent = found.getElseBodyBuilder();
      scf::YieldOp::create(absent, loc, carried);
      return SmallVector<Value>(found.getResults());
    };
    rewriter.replaceOp(op, loops.forEachIndex(rewriter, rows, copyRow));
    return success();
  }
};

} // namespace

void sparse_autograd::populateRowsToLoopsPatterns(const TypeConverter &types,
                                                  RewritePatternSet &patterns) {
  patterns.add<LowerGather, LowerScatterRows>(types, patterns.getContext());
}
