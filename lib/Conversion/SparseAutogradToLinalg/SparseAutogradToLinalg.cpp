//===- SparseAutogradToLinalg.cpp - sparse_autograd ops to linalg ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/SparseAutogradToLinalg/SparseAutogradToLinalg.h"
#include "Patterns.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseAutograd/Transforms/ExpandAccumulate.h"
#include "SparseAutograd/Transforms/ExpandConversions.h"
#include "SparseAutograd/Transforms/ExpandOps.h"
#include "SparseAutograd/Transforms/SparseElementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_CONVERTSPARSEAUTOGRADTOLINALG
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Whether the conversion replaces `op`; a `log` stays for a later phase.
static bool isConverted(Operation *op) {
  return isa<MaskedReduceOp, MaskedSoftmaxOp, MaskedLogSoftmaxOp, GradMaskOp,
             StopGradientOp, RandomOp, GatherOp, AccumulateOp, Sparsify24Op,
             Sparsify24LikeOp, Choose24Op, Mask24Op>(op);
}

/// What `op` needs before it can be converted.
static LogicalResult checkConvertible(Operation *op) {
  if (isa<ValueAndGradOp, VjpOp, JvpOp, LinearTransposeOp, SplitVjpOp,
          CheckpointOp, CustomVjpOp>(op))
    return op->emitOpError("is a derivative that is not code yet; run "
                           "--sparse-autograd-differentiate first");
  if (!isConverted(op))
    return success();
  if (!isa<MaskedSoftmaxOp, MaskedLogSoftmaxOp>(op) ||
      !isSparse(op->getResult(0).getType()))
    return success();
  // The result has the pattern of the input: what is selected must be stored.
  if (SparsePatterns().selectsStored(cast<MaskOpInterface>(op)))
    return success();
  return op->emitOpError("selects elements that its sparse operand may not "
                         "store; give sparse_autograd.pattern of the operand "
                         "as the mask, or make the operand dense with "
                         "sparse_tensor.convert");
}

namespace {

/// grad_mask and stop_gradient are identities once gradients are code.
template <typename OpTy>
struct ForwardInput : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

/// The rows of a dense table; those of a sparse one are looked up in its
/// storage, once it has one.
struct GatherDense : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    if (isSparse(op.getTable().getType()))
      return failure();
    rewriter.replaceOp(op, createGather(rewriter, op.getLoc(), op.getTable(),
                                        op.getIndices(), op.getTable(),
                                        op.getType()));
    return success();
  }
};

struct ConvertSparseAutogradToLinalg
    : sparse_autograd::impl::ConvertSparseAutogradToLinalgBase<
          ConvertSparseAutogradToLinalg> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet expanding(context), set(context), sums(context);
    populateExpandOpsPatterns(expanding);
    populateScatterToLoopsPatterns(expanding);
    populateExpandSelectionPatterns(expanding);
    expansions = std::move(expanding);
    populateSparseAutogradToLinalgPatterns(set);
    patterns = std::move(set);
    populateNarrowSumsPatterns(sums);
    narrowSums = std::move(sums);
    return success();
  }

  void runOnOperation() override {
    WalkResult checked = getOperation()->walk([](Operation *op) {
      return failed(checkConvertible(op)) ? WalkResult::interrupt()
                                          : WalkResult::advance();
    });
    if (checked.wasInterrupted() || failed(expandConversions(getOperation())))
      return signalPassFailure();
    walkAndApplyPatterns(getOperation(), expansions);
    walkAndApplyPatterns(getOperation(), patterns);
    walkAndApplyPatterns(getOperation(), narrowSums);
  }

  FrozenRewritePatternSet expansions, patterns, narrowSums;
};

} // namespace

void sparse_autograd::populateSparseAutogradToLinalgPatterns(
    RewritePatternSet &patterns) {
  populateMaskedReducePatterns(patterns);
  populateMaskedSoftmaxPatterns(patterns);
  populateRandomPatterns(patterns);
  populateSelectionPatterns(patterns);
  populateSparseElementwisePatterns(patterns);
  populateExpandAccumulatePatterns(patterns);
  patterns
      .add<ForwardInput<GradMaskOp>, ForwardInput<StopGradientOp>, GatherDense>(
          patterns.getContext());
}
