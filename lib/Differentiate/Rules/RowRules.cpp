//===- RowRules.cpp - derivatives of reading and adding rows --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gather and scatter_rows transpose each other (semantics S7). The tangent of a
// table says what the gradient of the table will be: a dense one is gathered by
// a generic of reads, whose rule adds to a dense gradient under a mask of what
// was read; a sparse one by another gather.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseRules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// The sums of the rows `rows` of a tensor of the shape of `like` and of
/// `type`.
static Value createScatter(OpBuilder &builder, Location loc, Value rows,
                           Value indices, Value like, Type type) {
  Value extent = tensor::DimOp::create(builder, loc, like, 0);
  return ScatterRowsOp::create(builder, loc, type, rows, indices, extent);
}

namespace {

struct GatherModel
    : LinearizableOpInterface::ExternalModel<GatherModel, GatherOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<GatherOp>(operation);
    OpBuilder &builder = linearizer.builder;
    Value table = linearizer.tangent(op.getTable());
    Value tangent =
        isSparse(table.getType())
            ? GatherOp::create(builder, op.getLoc(), op.getType(), table,
                               op.getIndices())
                  .getResult()
            : createGather(builder, op.getLoc(), table, op.getIndices(),
                           op.getTable(), op.getType());
    linearizer.setTangent(op.getResult(), tangent);
    return success();
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<GatherOp>(operation);
    Value like = transposer.shapeOf(op.getTable());
    Value rows = transposer.unroundedCotangent(op.getResult());
    auto type = cast<RankedTensorType>(op.getTable().getType());
    Value sums =
        createScatter(transposer.builder, op.getLoc(), rows,
                      transposer.primal(op.getIndices()), like,
                      type.clone(getElementTypeOrSelf(rows.getType())));
    // A table with a pattern of its own: its rows, and no others.
    if (isSparse(like.getType()))
      sums = createCopyLike(transposer.builder, op.getLoc(), sums, like);
    transposer.accumulate(op.getTable(), sums);
    return success();
  }

  bool takesTangentFormat(Operation *, Value, Type) const { return true; }
};

struct ScatterRowsModel
    : LinearizableOpInterface::ExternalModel<ScatterRowsModel, ScatterRowsOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<ScatterRowsOp>(operation);
    OpBuilder &builder = linearizer.builder;
    auto sums = ScatterRowsOp::create(builder, op.getLoc(), op.getType(),
                                      linearizer.tangent(op.getRows()),
                                      op.getIndices(), op.getExtent());
    linearizer.noteShape(sums, op.getResult());
    // The same pattern, and known to be the same.
    linearizer.setTangent(op.getResult(), createCopyLike(builder, op.getLoc(),
                                                         sums, op.getResult()));
    return success();
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<ScatterRowsOp>(operation);
    Value sums = transposer.unroundedCotangent(op.getResult());
    auto type = cast<RankedTensorType>(op.getRows().getType());
    transposer.accumulate(
        op.getRows(),
        GatherOp::create(transposer.builder, op.getLoc(),
                         type.clone(getElementTypeOrSelf(sums)), sums,
                         transposer.primal(op.getIndices())));
    return success();
  }
};

} // namespace

void sparse_autograd::attachRowRules(MLIRContext &context) {
  GatherOp::attachInterface<GatherModel>(context);
  ScatterRowsOp::attachInterface<ScatterRowsModel>(context);
}
