//===- UnreadInits.cpp - results that start from nothing ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// Whether `value` holds nothing but its extents.
static bool isEmpty(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

namespace {

struct RemoveUnreadInits : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    bool changed = false;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      // What no iteration writes keeps what the init holds.
      if (op.payloadUsesValueFromOperand(&init) || isEmpty(init.get()) ||
          !op.getMatchingIndexingMap(&init).isPermutation() ||
          sparse_tensor::getSparseTensorEncoding(init.get().getType()))
        continue;
      rewriter.setInsertionPoint(op);
      Value empty = tensor::EmptyOp::create(
          rewriter, op.getLoc(),
          tensor::getMixedSizes(rewriter, op.getLoc(), init.get()),
          getElementTypeOrSelf(init.get().getType()));
      if (empty.getType() != init.get().getType())
        empty = tensor::CastOp::create(rewriter, op.getLoc(),
                                       init.get().getType(), empty);
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
      changed = true;
    }
    return success(changed);
  }
};

} // namespace

namespace sparse_autograd {

void populateRemoveUnreadInitsPatterns(RewritePatternSet &patterns) {
  patterns.add<RemoveUnreadInits>(patterns.getContext());
}

} // namespace sparse_autograd
