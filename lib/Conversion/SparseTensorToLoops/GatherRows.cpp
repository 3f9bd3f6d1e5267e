//===- GatherRows.cpp - rows of a row-sparse table ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowsToLoops.h"

#include "../Assertions.h"
#include "LevelCursor.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

void sparse_autograd::assertRowInside(OpBuilder &builder, Operation *op,
                                      Value index, Value extent) {
  Location loc = op->getLoc();
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, index, extent);
  cf::AssertOp::create(builder, loc, isInside,
                       makeAssertionMessage(op, "an index is out of range"));
}

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
                                            builder.getIndexType(), index);
  }

private:
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
      assertRowInside(nested, op, index, numRows);
      auto located = LevelCursor(table).locate(nested, loc, index);
      auto found =
          scf::IfOp::create(nested, loc, carried.getTypes(), located.second,
                            /*withElseRegion=*/true);
      OpBuilder stored = found.getThenBodyBuilder();
      auto copyElement = [&](OpBuilder &inner, ValueRange element,
                             ValueRange values) {
        LevelCursor place = located.first;
        for (Value coordinate : element)
          place = place.locate(inner, loc, coordinate).first;
        Value value = tensor::ExtractOp::create(inner, loc, table.getValues(),
                                                place.getPosition());
        SmallVector<Value> target(position);
        llvm::append_range(target, element);
        return SmallVector<Value>{tensor::InsertOp::create(
            inner, loc, value, values.front(), target)};
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

void sparse_autograd::populateGatherRowsPatterns(const TypeConverter &types,
                                                 RewritePatternSet &patterns) {
  patterns.add<LowerGather>(types, patterns.getContext());
}
