//===- NarrowFactors.cpp - read extended factors as stored ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor cores multiply f16 and bf16 and add in f32. A product of matrices of
// f32 that are extensions of such ones is computed by them if it reads what is
// extended, which is half as much to read. Assumes that elementwise ops are
// generics.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

namespace sparse_autograd {

/// The generic that extends all elements of a tensor to `value`; null if there
/// is none.
static linalg::GenericOp getExtension(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return nullptr;
  auto extension = op.getBody()
                       ->getTerminator()
                       ->getOperand(0)
                       .getDefiningOp<arith::ExtFOp>();
  return extension && extension.getIn() == op.getRegionInputArgs().front()
             ? op
             : nullptr;
}

/// The element type of a factor as it is stored.
static Type getStoredType(Value factor) {
  linalg::GenericOp extension = getExtension(factor);
  return getElementTypeOrSelf(
      (extension ? extension.getDpsInputs().front() : factor).getType());
}

namespace {

struct ReadNarrowFactor : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp named,
                                PatternRewriter &rewriter) const override {
    if (!named.hasPureTensorSemantics() || !isMatrixProduct(named))
      return failure();
    Type left = getStoredType(named.getDpsInputs()[0]);
    Type right = getStoredType(named.getDpsInputs()[1]);
    if (left != right || !(left.isF16() || left.isBF16()) ||
        llvm::none_of(named.getDpsInputs(), getExtension))
      return failure();
    auto op = dyn_cast<linalg::GenericOp>(named.getOperation());
    if (!op) {
      FailureOr<linalg::GenericOp> generalized =
          linalg::generalizeNamedOp(rewriter, named);
      if (failed(generalized))
        return failure();
      op = *generalized;
    }
    for (OpOperand *factor : op.getDpsInputOperands()) {
      if (!getExtension(factor->get()) ||
          !linalg::areElementwiseOpsFusable(factor))
        continue;
      FailureOr<linalg::ElementwiseOpFusionResult> fused =
          linalg::fuseElementwiseOps(rewriter, factor);
      if (failed(fused))
        continue;
      rewriter.replaceOp(op, fused->fusedOp->getResults().take_back());
      return success();
    }
    return success(op != named);
  }
};

} // namespace

void populateReadNarrowFactorsPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadNarrowFactor>(patterns.getContext());
}

} // namespace sparse_autograd
