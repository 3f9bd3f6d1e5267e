//===- PrepareSparse.cpp - structured ops alone on sparse tensors ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first half of the lowering of sparse tensors, which stays on structured
// ops: what is read at patterns alone is computed there alone, and samples and
// conversions are structured ops too. What is a product of which form is final
// after it, so that libraries are offered them between it and LowerSparse.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/SparseTensorToLoops/SparseTensorToLoops.h"

#include "CheckSparseTypes.h"
#include "Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseAutograd/Transforms/FoldBroadcasts.h"
#include "SparseAutograd/Transforms/SampleFactors.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PREPARESPARSE
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The elements of a tensor at a pattern, as a structured op.
static void lowerSample(SampleOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value sample = createCopyLike(builder, loc, op.getInput(), op.getPattern());
  if (sample.getType() != op.getType())
    sample = tensor::CastOp::create(builder, loc, op.getType(), sample);
  op.replaceAllUsesWith(sample);
  op.erase();
}

Value sparse_autograd::createStoredCopy(OpBuilder &builder, Location loc,
                                        Value source, RankedTensorType type) {
  Value init = createEmptyOfType(builder, loc, type, source);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  return linalg::GenericOp::create(
             builder, loc, type, source, init,
             ArrayRef<AffineMap>{identity, identity},
             SmallVector<utils::IteratorType>(type.getRank(),
                                              utils::IteratorType::parallel),
             [](OpBuilder &nested, Location loc, ValueRange elements) {
               linalg::YieldOp::create(nested, loc, elements.front());
             })
      .getResult(0);
}

static void lowerConvert(sparse_tensor::ConvertOp op) {
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op.getType());
  Value stored =
      isCompression24(op)
          ? Value(Compress24Op::create(builder, op.getLoc(), type,
                                       op.getSource(), /*choice=*/Value(),
                                       /*transposed=*/false,
                                       /*both_orders=*/false))
          : createStoredCopy(builder, op.getLoc(), op.getSource(), type);
  op.replaceAllUsesWith(stored);
  op.erase();
}

/// Has `op` compute what it reads of dense operands that elementwise ops make
/// for it alone: at the elements that it visits, each once, and no others.
static void fuseProducers(IRRewriter &rewriter, linalg::GenericOp op) {
  auto isFusable = [&](OpOperand &operand) {
    auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
    return producer && producer->getBlock() == op->getBlock() &&
           producer->getNumResults() == 1 && producer->hasOneUse() &&
           llvm::none_of(producer->getOperandTypes(), isSparse) &&
           op.getMatchingIndexingMap(&operand).isPermutation() &&
           linalg::areElementwiseOpsFusable(&operand);
  };
  while (true) {
    OpOperand *fusable = nullptr;
    for (OpOperand *input : op.getDpsInputOperands())
      if (isFusable(*input))
        fusable = input;
    if (!fusable)
      return;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, fusable);
    if (failed(fused))
      return;
    for (auto [value, replacement] : fused->replacements)
      rewriter.replaceAllUsesWith(value, replacement);
    rewriter.eraseOp(op);
    op = cast<linalg::GenericOp>(fused->fusedOp);
  }
}

namespace {
struct PrepareSparsePass
    : sparse_autograd::impl::PrepareSparseBase<PrepareSparsePass> {
  void runOnOperation() override {
    if (failed(checkSparseTypes(getOperation())) || failed(sampleFactors()) ||
        failed(checkConversions()))
      return signalPassFailure();
    getOperation()->walk([](SampleOp op) { lowerSample(op); });
    getOperation()->walk(lowerConvert);
    SmallVector<linalg::GenericOp> generics;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (hasSparseType(op))
        generics.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : generics)
      fuseProducers(rewriter, op);
  }

private:
  LogicalResult sampleFactors() {
    RewritePatternSet patterns(&getContext());
    SampleOp::getCanonicalizationPatterns(patterns, &getContext());
    SampledGenericOp::getCanonicalizationPatterns(patterns, &getContext());
    populateSampleFactorsPatterns(patterns);
    populateFoldBroadcastsIntoSparsePatterns(patterns);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  LogicalResult checkConversions() {
    WalkResult checked = getOperation()->walk([](sparse_tensor::ConvertOp op) {
      if (getElementTypeOrSelf(op.getSource()) == getElementTypeOrSelf(op))
        return WalkResult::advance();
      return WalkResult(
          op.emitOpError("changes the element type; run "
                         "--convert-sparse-autograd-to-linalg first"));
    });
    return success(!checked.wasInterrupted());
  }
};
} // namespace
