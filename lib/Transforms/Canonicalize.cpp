//===- Canonicalize.cpp - MLIR's canonicalizations that hold --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/Canonicalize.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Transforms/Passes.h"
#include "SparseAutograd/Transforms/PropagateConditions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_CANONICALIZE
#include "SparseAutograd/Transforms/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// What something of this project takes the place of: a pattern that is not
/// sound, and one that takes time cubic in the number of branches. MLIR labels
/// its patterns with their names.
static constexpr llvm::StringLiteral replacedPatterns[] = {
    "(anonymous namespace)::ForOpTensorCastFolder",
    "(anonymous namespace)::ConditionPropagation"};

namespace {
/// Moves a cast of what a loop starts from into the loop, as the pattern of
/// MLIR, where each iteration keeps the extents that the loop then knows.
struct CarryKnownExtents : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop,
                                PatternRewriter &rewriter) const override {
    for (OpOperand &init : loop.getInitArgsMutable()) {
      auto cast = init.get().getDefiningOp<tensor::CastOp>();
      if (!cast || !keepsExtents(loop, loop.getTiedLoopResult(&init), cast))
        continue;
      rewriter.replaceOp(loop, scf::replaceAndCastForOpIterArg(
                                   rewriter, loop, init, cast.getSource(),
                                   [](OpBuilder &builder, Location loc,
                                      Type type, Value value) -> Value {
                                     return tensor::CastOp::create(builder, loc,
                                                                   type, value);
                                   }));
      return success();
    }
    return failure();
  }

  /// Whether each iteration yields for `result` the extents that are known of
  /// the operand of `cast` alone; false if there are none.
  static bool keepsExtents(scf::ForOp loop, OpResult result,
                           tensor::CastOp cast) {
    auto known = dyn_cast<RankedTensorType>(cast.getSource().getType());
    auto carried = dyn_cast<RankedTensorType>(cast.getType());
    if (!known || !carried || known == carried ||
        !tensor::preservesStaticInformation(carried, known))
      return false;
    Value yielded =
        loop.getTiedLoopYieldedValue(loop.getTiedLoopRegionIterArg(result))
            ->get();
    return llvm::all_of(llvm::seq(known.getRank()), [&](int64_t dim) {
      return known.isDynamicDim(dim) || !carried.isDynamicDim(dim) ||
             keepsExtent(loop, result, dim) ||
             getConstantExtent(yielded, dim) == known.getDimSize(dim);
    });
  }
};
} // namespace

FrozenRewritePatternSet
sparse_autograd::freezeCanonicalizations(RewritePatternSet &&patterns,
                                         ArrayRef<std::string> disabled) {
  patterns.add<CarryKnownExtents>(patterns.getContext());
  SmallVector<std::string> labels(disabled);
  for (StringRef label : replacedPatterns)
    labels.push_back(label.str());
  return FrozenRewritePatternSet(std::move(patterns), labels);
}

namespace {
struct CanonicalizePass
    : sparse_autograd::impl::CanonicalizeBase<CanonicalizePass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(owned);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(owned, context);
    patterns = freezeCanonicalizations(std::move(owned));
    return success();
  }

  void runOnOperation() override {
    propagateConditions(getOperation());
    // What could still be simplified after many rounds stays.
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
    (void)applyPatternsGreedily(getOperation(), patterns, config);
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
