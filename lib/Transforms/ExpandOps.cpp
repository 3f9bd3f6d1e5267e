//===- ExpandOps.cpp - ops that stand for several others ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/ExpandOps.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// Of the tensor with slices at the coordinates in `indices`: the index of the
/// element `position` of slices in the full tensor, whose dimensions
/// `gathered` the coordinates give. The other dimensions have their own
/// positions; the gathered ones may have extent 1 in the slices or be gone.
static SmallVector<Value> createIndex(OpBuilder &builder, Location loc,
                                      Value indices, ValueRange position,
                                      int64_t rank,
                                      ArrayRef<int64_t> gathered) {
  int64_t numLeading = cast<RankedTensorType>(indices.getType()).getRank() - 1;
  bool keepsDims = static_cast<int64_t>(position.size()) == numLeading + rank;
  SmallVector<Value> index(rank);
  for (auto [number, dim] : llvm::enumerate(gathered)) {
    SmallVector<Value> at(position.take_front(numLeading));
    at.push_back(arith::ConstantIndexOp::create(builder, loc, number));
    Value coordinate = tensor::ExtractOp::create(builder, loc, indices, at);
    index[dim] = getValueOrCreateCastToIndexLike(
        builder, loc, builder.getIndexType(), coordinate);
  }
  int64_t next = numLeading;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isGathered = llvm::is_contained(gathered, dim);
    if (!isGathered)
      index[dim] = position[next];
    if (!isGathered || keepsDims)
      ++next;
  }
  return index;
}

bool sparse_autograd::changesElements(Operation *op) {
  assert((isa<linalg::PackOp, linalg::UnPackOp>(op)));
  return getElementTypeOrSelf(op->getOperand(0)) !=
         getElementTypeOrSelf(op->getOperand(1));
}

namespace {

/// Without a mask, masked_softmax is softmax. It keeps the result only for its
/// derivative, and computes a row in one loop.
struct ExpandSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    Value result = MaskedSoftmaxOp::create(
        rewriter, op.getLoc(), op.getInput(), /*mask=*/Value(),
        ArrayRef<int64_t>{static_cast<int64_t>(op.getDimension())});
    Type type = op.getResult().front().getType();
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    if (changesElements(op))
      return failure();
    return linalg::lowerPack(rewriter, op,
                             /*lowerPadLikeWithInsertSlice=*/false);
  }
};

struct ExpandUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    if (changesElements(op))
      return failure();
    return linalg::lowerUnPack(rewriter, op,
                               /*lowerUnpadLikeWithExtractSlice=*/false);
  }
};

struct ExpandGather : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::GatherOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Value source = op.getSource(), indices = op.getIndices();
    int64_t sourceRank = cast<RankedTensorType>(source.getType()).getRank();
    int64_t numLeading =
        cast<RankedTensorType>(indices.getType()).getRank() - 1;
    bool keepsDims = type.getRank() == numLeading + sourceRank;

    SmallVector<OpFoldResult> shape;
    for (int64_t dim = 0; dim < numLeading; ++dim)
      shape.push_back(tensor::getMixedSize(rewriter, loc, indices, dim));
    for (int64_t dim = 0; dim < sourceRank; ++dim) {
      if (!llvm::is_contained(op.getGatherDims(), dim))
        shape.push_back(tensor::getMixedSize(rewriter, loc, source, dim));
      else if (keepsDims)
        shape.push_back(rewriter.getIndexAttr(1));
    }
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto gathered = linalg::GenericOp::create(
        rewriter, loc, empty.getType(), ValueRange(), empty,
        rewriter.getMultiDimIdentityMap(type.getRank()), iterators,
        [&](OpBuilder &builder, Location loc, ValueRange) {
          SmallVector<Value> position;
          for (int64_t dim = 0; dim < type.getRank(); ++dim)
            position.push_back(linalg::IndexOp::create(builder, loc, dim));
          SmallVector<Value> index = createIndex(
              builder, loc, indices, position, sourceRank, op.getGatherDims());
          Value element =
              tensor::ExtractOp::create(builder, loc, source, index);
          linalg::YieldOp::create(builder, loc, element);
        });
    Value result = gathered.getResult(0);
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ScatterToLoops : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ScatterOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    SmallVector<Value> ends = getValueOrCreateConstantIndexOp(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getSource()));
    SmallVector<Value> begins(ends.size(), zero), steps(ends.size(), one);
    scf::LoopNest nest = scf::buildLoopNest(
        rewriter, loc, begins, ends, steps, op.getDest(),
        [&](OpBuilder &builder, Location loc, ValueRange position,
            ValueRange carried) -> scf::ValueVector {
          Value element =
              tensor::ExtractOp::create(builder, loc, op.getSource(), position);
          SmallVector<Value> index =
              createIndex(builder, loc, op.getIndices(), position,
                          op.getDestType().getRank(), op.getScatterDims());
          return {tensor::InsertOp::create(builder, loc, element,
                                           carried.front(), index)};
        });
    rewriter.replaceOp(op, nest.results);
    return success();
  }
};

/// One of two tensors is a branch: they may have other extents, and sparse ones
/// other patterns, which an elementwise op would unite.
struct ExpandSelect : OpRewritePattern<arith::SelectOp> {
  // Before it is taken for an elementwise op.
  explicit ExpandSelect(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    if (!choosesTensor(op) ||
        (!isSparse(op.getType()) &&
         haveSameShape(op.getTrueValue(), op.getFalseValue())))
      return failure();
    auto yield = [](Value value) {
      return [value](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, value);
      };
    };
    rewriter.replaceOpWithNewOp<scf::IfOp>(op, op.getCondition(),
                                           yield(op.getTrueValue()),
                                           yield(op.getFalseValue()));
    return success();
  }
};

} // namespace

void sparse_autograd::populateExpandOpsPatterns(RewritePatternSet &patterns) {
  patterns
      .add<ExpandSoftmax, ExpandPack, ExpandUnPack, ExpandGather, ExpandSelect>(
          patterns.getContext());
}

void sparse_autograd::populateScatterToLoopsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<ScatterToLoops>(patterns.getContext());
}
