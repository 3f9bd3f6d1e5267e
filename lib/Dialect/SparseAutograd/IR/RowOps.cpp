//===- RowOps.cpp - rows of tables ----------------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace sparse_autograd;

/// Checks that `rows` holds a row of `table` for each element of `indices`.
static LogicalResult verifyRows(Operation *op, RankedTensorType table,
                                RankedTensorType indices,
                                RankedTensorType rows) {
  if (table.getRank() == 0)
    return op->emitOpError("has a table of type ")
           << table << ", which has no rows";
  SmallVector<int64_t> shape(indices.getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  auto expected = RankedTensorType::get(shape, table.getElementType());
  if (!isSparse(rows) && rows.getElementType() == table.getElementType() &&
      succeeded(verifyCompatibleShape(rows, expected)))
    return success();
  return op->emitOpError("has rows of type ")
         << rows << "; with indices of " << indices << " and a table of "
         << table << " they are " << expected;
}

/// The extents of `value`, dimension `first` and on.
static void appendExtents(OpBuilder &builder, Location loc, Value value,
                          int64_t first,
                          SmallVectorImpl<OpFoldResult> &extents) {
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t dim = first; dim < type.getRank(); ++dim)
    extents.push_back(tensor::getMixedSize(builder, loc, value, dim));
}

/// What is static in `type` is known whatever `extents` say.
static LogicalResult setShape(OpBuilder &builder, RankedTensorType type,
                              SmallVector<OpFoldResult> extents,
                              ReifiedRankedShapedTypeDims &shapes) {
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (!type.isDynamicDim(dim))
      extent = builder.getIndexAttr(type.getDimSize(dim));
  shapes.push_back(std::move(extents));
  return success();
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  RankedTensorType table = getTable().getType();
  if (isSparse(table) && !isRowSparse(table))
    return emitOpError("has a table of type ")
           << table
           << "; a sparse table stores whole rows, first level compressed and "
              "the others dense: convert it";
  return verifyRows(*this, table, getIndices().getType(), getType());
}

LogicalResult GatherOp::reifyResultShapes(OpBuilder &builder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> extents;
  appendExtents(builder, getLoc(), getIndices(), 0, extents);
  appendExtents(builder, getLoc(), getTable(), 1, extents);
  return setShape(builder, getType(), std::move(extents), shapes);
}

//===----------------------------------------------------------------------===//
// ScatterRowsOp
//===----------------------------------------------------------------------===//

LogicalResult ScatterRowsOp::verify() {
  return verifyRows(*this, cast<RankedTensorType>(getType()),
                    getIndices().getType(), getRows().getType());
}

LogicalResult
ScatterRowsOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> extents = {getExtent()};
  appendExtents(builder, getLoc(), getRows(), getIndices().getType().getRank(),
                extents);
  return setShape(builder, cast<RankedTensorType>(getType()),
                  std::move(extents), shapes);
}

//===----------------------------------------------------------------------===//
// AccumulateOp
//===----------------------------------------------------------------------===//

LogicalResult AccumulateOp::verify() {
  if (getInputs().empty())
    return emitOpError("adds nothing");
  for (Value input : getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getElementType() != getType().getElementType() ||
        failed(verifyCompatibleShape(type, getType())))
      return emitOpError("adds a tensor of type ")
             << type << " to one of type " << getType()
             << "; shapes and element types must be the same";
    if (isSparse(getType()) && !isSparse(type))
      return emitOpError("adds a dense tensor to a sparse one, of type ")
             << getType()
             << "; make the result dense, or sample the operand at a pattern";
  }
  return success();
}

LogicalResult
AccumulateOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> extents;
  appendExtents(builder, getLoc(), getInputs().front(), 0, extents);
  return setShape(builder, getType(), std::move(extents), shapes);
}

namespace {
/// A sum that begins with a sum nobody else reads is one: entries of sparse
/// operands are then listed and stored once.
struct FlattenAccumulate : OpRewritePattern<AccumulateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AccumulateOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getInputs().front().getDefiningOp<AccumulateOp>();
    if (!first || !first->hasOneUse() || first.getType() != op.getType())
      return failure();
    SmallVector<Value> inputs(first.getInputs());
    llvm::append_range(inputs, op.getInputs().drop_front());
    rewriter.replaceOpWithNewOp<AccumulateOp>(op, op.getType(), inputs);
    return success();
  }
};

/// Sums of rows that are only added are one sum of all their rows: one list to
/// sort, with the rows of the first operand first.
struct MergeScatterRows : OpRewritePattern<AccumulateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AccumulateOp op,
                                PatternRewriter &rewriter) const override {
    // A sum that goes into another one is merged with it first.
    if (op->hasOneUse() && isa<AccumulateOp>(*op->user_begin()))
      return failure();
    SmallVector<Value> rows, indices;
    ScatterRowsOp first;
    for (Value input : op.getInputs()) {
      auto scatter = input.getDefiningOp<ScatterRowsOp>();
      if (!scatter || !scatter->hasOneUse() ||
          scatter.getType() != op.getType())
        return failure();
      if (!first)
        first = scatter;
      RankedTensorType type = scatter.getIndices().getType();
      RankedTensorType firstType = first.getIndices().getType();
      if (scatter.getExtent() != first.getExtent() || type.getRank() == 0 ||
          type.getElementType() != firstType.getElementType() ||
          type.getShape().drop_front() != firstType.getShape().drop_front() ||
          ShapedType::isDynamicShape(type.getShape().drop_front()))
        return failure();
      rows.push_back(scatter.getRows());
      indices.push_back(scatter.getIndices());
    }
    Location loc = op.getLoc();
    rewriter.replaceOpWithNewOp<ScatterRowsOp>(
        op, op.getType(), tensor::ConcatOp::create(rewriter, loc, 0, rows),
        tensor::ConcatOp::create(rewriter, loc, 0, indices), first.getExtent());
    return success();
  }
};
} // namespace

void AccumulateOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<FlattenAccumulate, MergeScatterRows>(context);
}
