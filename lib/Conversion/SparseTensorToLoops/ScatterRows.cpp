//===- ScatterRows.cpp - sums of rows of a table --------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of a sum are found by sorting the indices, each row once. An element
// of a sum is added up in the order of the list: the same bits every time, for
// one thread that goes through the list and for one for each element. Memory
// and time depend on how many rows are read, not on the size of the table.
//
//===----------------------------------------------------------------------===//

#include "RowsToLoops.h"

#include "Assembly.h"
#include "EmitIf.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// The place of `element` of row number `row` in the values.
static Value getPlace(OpBuilder &builder, Location loc, Value row,
                      ValueRange element, ArrayRef<Value> rowExtents) {
  Value place = row;
  for (auto [index, extent] : llvm::zip_equal(element, rowExtents)) {
    place = arith::MulIOp::create(builder, loc, place, extent);
    place = arith::AddIOp::create(builder, loc, place, index);
  }
  return place;
}

static SmallVector<Value> concatenate(ValueRange a, ValueRange b) {
  SmallVector<Value> all(a);
  llvm::append_range(all, b);
  return all;
}

/// `tensor` with its first `rank` dimensions as one; one of one element if
/// there are none.
static Value flattenFirst(OpBuilder &builder, Location loc, Value tensor,
                          int64_t rank) {
  if (rank == 1)
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> groups;
  if (rank != 0) {
    groups.push_back(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    for (int64_t dim = rank; dim < type.getRank(); ++dim)
      groups.push_back({dim});
    return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
  }
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    groups.push_back({dim + 1});
  if (!groups.empty())
    groups.front() = {0, 1};
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor,
                                       groups);
}

/// The rows that a list names, `indices` of `op` in one dimension, stored as
/// the rows of its result are. A table has `extent` rows.
static AssembledStorage assembleRows(OpBuilder &builder, ScatterRowsOp op,
                                     Value indices, Value extent) {
  Location loc = op.getLoc();
  RankedTensorType type = op.getType();
  Type index = builder.getIndexType();
  Value count = tensor::DimOp::create(builder, loc, indices, 0);
  Value list = createElementwise(
      builder, loc, indices, indices, index,
      [&](OpBuilder &nested, Location loc, ValueRange element) -> Value {
        Value row = element.front();
        if (!row.getType().isIndex())
          row = arith::IndexCastOp::create(nested, loc, index, row);
        assertRowInside(nested, op, row, extent);
        return row;
      });
  auto coordinatesType = RankedTensorType::get(
      {cast<RankedTensorType>(list.getType()).getDimSize(0), 1}, index);
  Value coordinates =
      tensor::ExpandShapeOp::create(builder, loc, coordinatesType, list,
                                    ArrayRef<ReassociationIndices>{{0, 1}});
  auto encoding = sparse_tensor::getSparseTensorEncoding(type);
  auto listEncoding = sparse_tensor::SparseTensorEncodingAttr::get(
      builder.getContext(), encoding.getLvlTypes().take_front(),
      builder.getMultiDimIdentityMap(1), AffineMap(), encoding.getPosWidth(),
      encoding.getCrdWidth());
  auto listType = RankedTensorType::get(type.getShape().take_front(),
                                        type.getElementType(), listEncoding);
  return assembleStorage(builder, loc, listType, coordinates, count, extent);
}

/// A loop from 0 to `end` that carries a tensor, whose iterations write to
/// different places of it.
static Value
createParallelLoop(OpBuilder &builder, Location loc, Value end, Value tensor,
                   llvm::function_ref<Value(OpBuilder &, Value, Value)> body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(
      builder, loc, zero, end, one, tensor,
      [&](OpBuilder &nested, Location loc, Value index, ValueRange carried) {
        scf::YieldOp::create(nested, loc, body(nested, index, carried.front()));
      });
  setParallel(loop);
  return loop.getResult(0);
}

namespace {
/// Adds rows to the stored rows that they belong to.
class RowSum {
public:
  /// `rows` has a row for each entry of `storage`, and `type` says what is
  /// stored.
  RowSum(OpBuilder &builder, Location loc, Value rows,
         const AssembledStorage &storage, RankedTensorType type)
      : builder(builder), loc(loc), rows(rows), storage(storage),
        elementType(type.getElementType()) {
    // Sums of f16 and bf16 are rounded once (semantics G11).
    sumType = getAccumulationType(elementType);
    widens = sumType != elementType;
    zero = arith::ConstantIndexOp::create(builder, loc, 0);
    one = arith::ConstantIndexOp::create(builder, loc, 1);
    count = tensor::DimOp::create(builder, loc, rows, 0);
    int64_t rank = cast<RankedTensorType>(rows.getType()).getRank();
    numValues = storage.numValues;
    for (int64_t dim = 1; dim < rank; ++dim) {
      rowExtents.push_back(tensor::DimOp::create(builder, loc, rows, dim));
      numValues =
          arith::MulIOp::create(builder, loc, numValues, rowExtents.back());
    }
  }

  /// Goes through the entries in their order.
  Value inOrder();
  /// Computes each element by itself: through the entries of its row.
  Value byElement();

private:
  Value createList(OpBuilder &builder, Value length, Type element) {
    return tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>{length},
                                   element);
  }
  Value extract(OpBuilder &builder, Value list, ValueRange place) {
    return tensor::ExtractOp::create(builder, loc, list, place);
  }
  /// The element of row number `entry`, as it is added.
  Value getElement(OpBuilder &builder, Value entry, ValueRange element) {
    Value value = extract(builder, rows, concatenate(entry, element));
    return widens
               ? arith::ExtFOp::create(builder, loc, sumType, value).getResult()
               : value;
  }
  Value findStarts();

  OpBuilder &builder;
  Location loc;
  Value rows;
  const AssembledStorage &storage;
  Type elementType, sumType;
  bool widens;
  Value zero, one, count, numValues;
  SmallVector<Value> rowExtents;
};
} // namespace

Value RowSum::inOrder() {
  Value sums = createZeros(builder, loc,
                           createList(builder, numValues, sumType), sumType);
  SmallVector<Value> begins(rowExtents.size(), zero);
  SmallVector<Value> steps(rowExtents.size(), one);
  auto entries = scf::ForOp::create(
      builder, loc, zero, count, one, sums,
      [&](OpBuilder &nested, Location loc, Value entry, ValueRange carried) {
        Value row = extract(nested, storage.slots, entry);
        auto addElement = [&](OpBuilder &inner, Location, ValueRange element,
                              ValueRange values) -> scf::ValueVector {
          Value place = getPlace(inner, loc, row, element, rowExtents);
          Value sum = extract(inner, values.front(), place);
          sum = arith::AddFOp::create(inner, loc, sum,
                                      getElement(inner, entry, element));
          return {
              tensor::InsertOp::create(inner, loc, sum, values.front(), place)};
        };
        scf::YieldOp::create(nested, loc,
                             scf::buildLoopNest(nested, loc, begins, rowExtents,
                                                steps, carried, addElement)
                                 .results);
      });
  Value values = entries.getResult(0);
  if (!widens)
    return values;
  return createElementwise(
      builder, loc, values, values, elementType,
      [&](OpBuilder &nested, Location loc, ValueRange sum) -> Value {
        return arith::TruncFOp::create(nested, loc, elementType, sum[0]);
      });
}

/// Where the entries of each stored row begin among the sorted ones, and behind
/// those of the last one where they end.
Value RowSum::findStarts() {
  Value length = arith::AddIOp::create(builder, loc, storage.numValues, one);
  Value starts = createList(builder, length, builder.getIndexType());
  Value last = arith::SubIOp::create(builder, loc, count, one);
  auto getRow = [&](OpBuilder &nested, Value number) {
    return extract(nested, storage.slots,
                   extract(nested, storage.order, number));
  };
  return createParallelLoop(
      builder, loc, count, starts,
      [&](OpBuilder &nested, Value number, Value carried) -> Value {
        Value row = getRow(nested, number);
        Value isFirstOfAll = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::eq, number, zero);
        Value before = arith::SubIOp::create(nested, loc, number, one);
        before = arith::MaxSIOp::create(nested, loc, before, zero);
        Value isOther = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::ne, row, getRow(nested, before));
        Value isFirst =
            arith::OrIOp::create(nested, loc, isFirstOfAll, isOther);
        auto writeIf = [&](Value condition, Value start, Value place,
                           Value list) -> Value {
          return emitIf(nested, loc, condition, list,
                        [&]() {
                          return SmallVector<Value>{tensor::InsertOp::create(
                              nested, loc, start, list, place)};
                        })
              .front();
        };
        Value list = writeIf(isFirst, number, row, carried);
        // No length is asked for, so that it need not be known here.
        Value isLast = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::eq, number, last);
        Value behind = arith::AddIOp::create(nested, loc, row, one);
        return writeIf(isLast, count, behind, list);
      });
}

Value RowSum::byElement() {
  Value starts = findStarts();
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sumType));
  std::function<Value(OpBuilder &, SmallVector<Value>, Value)> sumUp =
      [&](OpBuilder &nested, SmallVector<Value> place, Value values) -> Value {
    if (place.size() <= rowExtents.size()) {
      Value end =
          place.empty() ? storage.numValues : rowExtents[place.size() - 1];
      return createParallelLoop(
          nested, loc, end, values,
          [&](OpBuilder &inner, Value index, Value carried) {
            SmallVector<Value> next(place);
            next.push_back(index);
            return sumUp(inner, std::move(next), carried);
          });
    }
    Value row = place.front();
    ArrayRef<Value> element = ArrayRef(place).drop_front();
    Value behind = arith::AddIOp::create(nested, loc, row, one);
    auto entries = scf::ForOp::create(
        nested, loc, extract(nested, starts, row),
        extract(nested, starts, behind), one, none,
        [&](OpBuilder &inner, Location loc, Value number, ValueRange sum) {
          Value entry = extract(inner, storage.order, number);
          Value next = arith::AddFOp::create(inner, loc, sum.front(),
                                             getElement(inner, entry, element));
          scf::YieldOp::create(inner, loc, next);
        });
    Value sum = entries.getResult(0);
    if (widens)
      sum = arith::TruncFOp::create(nested, loc, elementType, sum);
    return tensor::InsertOp::create(
        nested, loc, sum, values,
        getPlace(nested, loc, row, element, rowExtents));
  };
  return sumUp(builder, {}, createList(builder, numValues, elementType));
}

namespace {
struct LowerScatterRows : OpConversionPattern<ScatterRowsOp> {
  LowerScatterRows(const TypeConverter &types, MLIRContext *context,
                   const LoopSchedule &schedule)
      : OpConversionPattern(types, context), schedule(schedule) {}

  LogicalResult
  matchAndRewrite(ScatterRowsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    int64_t indexRank = op.getIndices().getType().getRank();
    Value indices =
        flattenFirst(rewriter, loc, adaptor.getIndices().front(), indexRank);
    Value rows =
        flattenFirst(rewriter, loc, adaptor.getRows().front(), indexRank);
    Value extent = adaptor.getExtent().front();
    AssembledStorage storage = assembleRows(rewriter, op, indices, extent);
    RowSum sum(rewriter, loc, rows, storage, type);
    Value values = schedule.isForDevice ? sum.byElement() : sum.inOrder();

    SmallVector<Value> components = storage.lists;
    components.push_back(values);
    SmallVector<Value> extents = {extent};
    for (int64_t dim = 1; dim < type.getRank(); ++dim)
      extents.push_back(tensor::DimOp::create(rewriter, loc, rows, dim));
    for (auto [dim, value] : llvm::enumerate(extents))
      if (type.isDynamicDim(dim))
        components.push_back(value);
    rewriter.replaceOpWithMultiple(op, {components});
    return success();
  }

private:
  LoopSchedule schedule;
};
} // namespace

void sparse_autograd::populateScatterRowsPatterns(const TypeConverter &types,
                                                  const LoopSchedule &schedule,
                                                  RewritePatternSet &patterns) {
  patterns.add<LowerScatterRows>(types, patterns.getContext(), schedule);
}
