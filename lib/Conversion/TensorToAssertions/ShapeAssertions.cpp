//===- ShapeAssertions.cpp - what ops ask of extents and offsets ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeAssertions.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// Builds comparisons of indices.
class IndexBuilder {
public:
  IndexBuilder(OpBuilder &builder, Location loc) : builder(loc, builder) {}

  Value get(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, builder.getLoc(), value);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  Value extent(Value tensor, int64_t dim) {
    return get(tensor::getMixedSize(builder, builder.getLoc(), tensor, dim));
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, predicate, a, b);
  }
  Value isEqual(Value a, Value b) {
    return compare(arith::CmpIPredicate::eq, a, b);
  }
  Value isNotNegative(Value value) {
    return compare(arith::CmpIPredicate::sge, value, constant(0));
  }
  Value bitAnd(Value a, Value b) {
    return arith::AndIOp::create(builder, a, b);
  }
  Value bitOr(Value a, Value b) { return arith::OrIOp::create(builder, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, a, b); }
  Value mul(Value a, Value b) { return arith::MulIOp::create(builder, a, b); }
  Value divideDown(Value a, Value b) {
    return arith::DivSIOp::create(builder, a, b);
  }
  Value atLeastOne(Value value) {
    return arith::MaxSIOp::create(builder, value, constant(1));
  }

private:
  ImplicitLocOpBuilder builder;
};
} // namespace

/// A slice is empty, or begins in the destination and its last element,
/// (size - 1) strides on, is there too. Nothing is computed that could
/// overflow.
static void assertInsertSlice(IndexBuilder &index, tensor::InsertSliceOp op,
                              CreateAssertion createAssertion) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t sourceDim = 0;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    Value offset = index.get(op.getMixedOffsets()[dim]);
    Value size = index.get(op.getMixedSizes()[dim]);
    Value stride = index.get(op.getMixedStrides()[dim]);
    Value extent = index.extent(op.getDest(), dim);
    Value one = index.constant(1);
    Value isEmpty = index.isEqual(size, index.constant(0));
    Value begins =
        index.bitAnd(index.isNotNegative(offset),
                     index.compare(arith::CmpIPredicate::slt, offset, extent));
    Value steps = index.divideDown(index.sub(index.sub(extent, one), offset),
                                   index.atLeastOne(stride));
    Value ends =
        index.compare(arith::CmpIPredicate::sle, index.sub(size, one), steps);
    Value fits = index.bitOr(isEmpty, index.bitAnd(begins, ends));
    createAssertion(index.bitAnd(index.isNotNegative(size), fits),
                    "the slice does not lie in dimension " + Twine(dim) +
                        " of the destination");
    // The verifier knows constants.
    if (isa<Value>(op.getMixedStrides()[dim]))
      createAssertion(index.compare(arith::CmpIPredicate::sge, stride, one),
                      "the stride of dimension " + Twine(dim) +
                          " must be positive");
    if (dropped.test(dim))
      continue;
    createAssertion(
        index.isEqual(index.extent(op.getSource(), sourceDim), size),
        "dimension " + Twine(sourceDim) +
            " of the source must have the size of the slice");
    ++sourceDim;
  }
}

static void assertExpandShape(IndexBuilder &index, tensor::ExpandShapeOp op,
                              CreateAssertion createAssertion) {
  SmallVector<OpFoldResult> shape = op.getMixedOutputShape();
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value product = index.constant(1);
    for (int64_t part : group) {
      Value extent = index.get(shape[part]);
      if (op.getResultType().isDynamicDim(part))
        createAssertion(index.isNotNegative(extent),
                        "extent " + Twine(part) + " must not be negative");
      product = index.mul(product, extent);
    }
    createAssertion(index.isEqual(index.extent(op.getSrc(), dim), product),
                    "the extents that dimension " + Twine(dim) +
                        " is expanded to must multiply to its own");
  }
}

/// What a sparse tensor stores may be little, and its extents more than a
/// number of one dimension can say; a dense one would not fit in memory.
static void assertCollapseShape(IndexBuilder &index, tensor::CollapseShapeOp op,
                                CreateAssertion createAssertion) {
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (!op.getResultType().isDynamicDim(dim))
      continue;
    Value product = index.extent(op.getSrc(), group.front());
    for (int64_t part : ArrayRef(group).drop_front()) {
      Value extent = index.extent(op.getSrc(), part);
      Value largest =
          index.divideDown(index.constant(std::numeric_limits<int64_t>::max()),
                           index.atLeastOne(extent));
      createAssertion(
          index.compare(arith::CmpIPredicate::sle, product, largest),
          "the extents that dimension " + Twine(dim) +
              " is collapsed from are too large to be multiplied");
      product = index.mul(product, extent);
    }
  }
}

static void assertConcat(IndexBuilder &index, tensor::ConcatOp op,
                         CreateAssertion createAssertion) {
  Value first = op.getInputs().front();
  for (auto [number, input] : llvm::enumerate(op.getInputs()))
    for (int64_t dim = 0; dim < op.getResultType().getRank(); ++dim)
      if (number != 0 && dim != static_cast<int64_t>(op.getDim()))
        createAssertion(
            index.isEqual(index.extent(first, dim), index.extent(input, dim)),
            "dimension " + Twine(dim) + " of operand " + Twine(number) +
                " must have the extent of dimension " + Twine(dim) +
                " of operand 0");
}

/// The result has the extent that its type says, which may have come from a
/// cast behind the op, or else one that an index can say. Nothing is computed
/// that could overflow.
static void assertPad(IndexBuilder &index, tensor::PadOp op,
                      CreateAssertion createAssertion) {
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    bool isKnown = !op.getType().isDynamicDim(dim);
    std::string misfit =
        "dimension " + std::to_string(dim) +
        (isKnown ? " and its padding must add up to that of the result"
                 : " is too large with its padding");
    Value left = index.constant(isKnown ? op.getType().getDimSize(dim)
                                        : std::numeric_limits<int64_t>::max());
    for (OpFoldResult side :
         {op.getMixedLowPad()[dim], op.getMixedHighPad()[dim]}) {
      Value padding = index.get(side);
      createAssertion(index.isNotNegative(padding),
                      "the padding must not be negative");
      createAssertion(index.compare(arith::CmpIPredicate::sle, padding, left),
                      misfit);
      left = index.sub(left, padding);
    }
    createAssertion(index.compare(isKnown ? arith::CmpIPredicate::eq
                                          : arith::CmpIPredicate::sle,
                                  index.extent(op.getSource(), dim), left),
                    misfit);
  }
}

/// What is stored at a pattern has its extents.
static void assertOnPattern(IndexBuilder &index, Value pattern,
                            RankedTensorType type,
                            CreateAssertion createAssertion) {
  auto patternType = cast<RankedTensorType>(pattern.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (patternType.isDynamicDim(dim) && !type.isDynamicDim(dim))
      createAssertion(index.isEqual(index.extent(pattern, dim),
                                    index.constant(type.getDimSize(dim))),
                      "dimension " + Twine(dim) +
                          " of the pattern must have the extent of the result");
}

static void assertSample(IndexBuilder &index, SampleOp op,
                         CreateAssertion createAssertion) {
  RankedTensorType type = op.getInput().getType();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    createAssertion(index.isEqual(index.extent(op.getInput(), dim),
                                  index.extent(op.getPattern(), dim)),
                    "dimension " + Twine(dim) +
                        " of the input must have the extent of that of the "
                        "pattern");
  assertOnPattern(index, op.getPattern(), cast<RankedTensorType>(op.getType()),
                  createAssertion);
}

/// There is a row for each index, of the extents of those of the result.
static void assertScatterRows(IndexBuilder &index, ScatterRowsOp op,
                              CreateAssertion createAssertion) {
  int64_t indexRank = op.getIndices().getType().getRank();
  for (int64_t dim = 0; dim < indexRank; ++dim)
    createAssertion(
        index.isEqual(index.extent(op.getRows(), dim),
                      index.extent(op.getIndices(), dim)),
        "dimension " + Twine(dim) +
            " of the rows must have the extent of that of the indices");
  auto type = cast<RankedTensorType>(op.getType());
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    if (!type.isDynamicDim(dim))
      createAssertion(
          index.isEqual(index.extent(op.getRows(), indexRank + dim - 1),
                        index.constant(type.getDimSize(dim))),
          "dimension " + Twine(indexRank + dim - 1) +
              " of the rows must have the extent of dimension " + Twine(dim) +
              " of the result");
  if (!type.isDynamicDim(0))
    createAssertion(
        index.isEqual(op.getExtent(), index.constant(type.getDimSize(0))),
        "the result must have as many rows as its type says");
}

bool sparse_autograd::hasShapeAssertions(Operation *op) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return isSparse(collapse.getSrcType());
  return isa<tensor::InsertSliceOp, tensor::ExpandShapeOp, tensor::ConcatOp,
             tensor::PadOp, SampleOp, ScatterRowsOp, ZerosOp>(op);
}

void sparse_autograd::assertShapes(OpBuilder &builder, Operation *op,
                                   CreateAssertion createAssertion) {
  IndexBuilder index(builder, op->getLoc());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tensor::InsertSliceOp insert) {
        assertInsertSlice(index, insert, createAssertion);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        assertExpandShape(index, expand, createAssertion);
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        assertCollapseShape(index, collapse, createAssertion);
      })
      .Case([&](tensor::ConcatOp concat) {
        assertConcat(index, concat, createAssertion);
      })
      .Case([&](tensor::PadOp pad) { assertPad(index, pad, createAssertion); })
      .Case([&](SampleOp sample) {
        assertSample(index, sample, createAssertion);
      })
      .Case([&](ScatterRowsOp scatter) {
        assertScatterRows(index, scatter, createAssertion);
      })
      .Case([&](ZerosOp zeros) {
        assertOnPattern(index, zeros.getPattern(),
                        cast<RankedTensorType>(zeros.getType()),
                        createAssertion);
      });
}
