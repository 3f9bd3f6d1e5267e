//===- ExpandAccumulate.cpp - sums of several formats ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/ExpandAccumulate.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

struct ExpandAccumulate : OpRewritePattern<AccumulateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AccumulateOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    SmallVector<Value> inputs(op.getInputs());
    // A sum starts in place, or from nothing.
    Value init;
    auto *dense = llvm::find_if(
        inputs, [](Value input) { return !isSparse(input.getType()); });
    bool startsFromInput = dense != inputs.end();
    if (startsFromInput) {
      init = *dense;
      inputs.erase(dense);
    } else if (isSparse(type)) {
      init = createEmptyOfType(rewriter, loc, type, inputs.front());
    } else {
      init = createZeros(rewriter, loc,
                         createDenseLike(rewriter, loc, inputs.front()),
                         type.getElementType());
    }
    if (init.getType() != type)
      init = tensor::CastOp::create(rewriter, loc, type, init);
    if (inputs.empty()) {
      rewriter.replaceOp(op, init);
      return success();
    }
    SmallVector<AffineMap> maps(
        inputs.size() + 1, rewriter.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, inputs, init, maps, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange elements) {
          Value sum = startsFromInput ? elements.back() : elements.front();
          for (Value element :
               elements.drop_back().drop_front(startsFromInput ? 0 : 1))
            sum = arith::AddFOp::create(nested, loc, sum, element);
          linalg::YieldOp::create(nested, loc, sum);
        });
    return success();
  }
};

} // namespace

void sparse_autograd::populateExpandAccumulatePatterns(
    RewritePatternSet &patterns) {
  patterns.add<ExpandAccumulate>(patterns.getContext());
}
