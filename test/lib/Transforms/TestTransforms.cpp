//===- TestTransforms.cpp - one rewrite of lib/Transforms a pass -------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../TestPass.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Transforms/EraseDeadIterArgs.h"
#include "SparseAutograd/Transforms/ExpandAccumulate.h"
#include "SparseAutograd/Transforms/ExpandConversions.h"
#include "SparseAutograd/Transforms/ExpandMath.h"
#include "SparseAutograd/Transforms/ExpandOps.h"
#include "SparseAutograd/Transforms/FoldBroadcasts.h"
#include "SparseAutograd/Transforms/FoldConstants.h"
#include "SparseAutograd/Transforms/FoldNegations.h"
#include "SparseAutograd/Transforms/HoistInvariants.h"
#include "SparseAutograd/Transforms/MakeSequential.h"
#include "SparseAutograd/Transforms/MergeEqualOps.h"
#include "SparseAutograd/Transforms/NarrowFloats.h"
#include "SparseAutograd/Transforms/SampleFactors.h"
#include "SparseAutograd/Transforms/ShortenDims.h"
#include "SparseAutograd/Transforms/SparseElementwise.h"
#include "SparseAutograd/Transforms/StoreIntoZeros.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace sparse_autograd;
using namespace sparse_autograd::test;

/// Applies a set of patterns, without the folding of what they leave alone.
template <void (*Populate)(RewritePatternSet &)>
static LogicalResult apply(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  Populate(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false);
  return applyPatternsGreedily(module, std::move(patterns), config);
}

static LogicalResult runMakeSequential(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  SmallVector<scf::ParallelOp> loops;
  module.walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
  for (scf::ParallelOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    makeSequential(rewriter, loop);
  }
  return success();
}

static LogicalResult runMergeEqualOps(ModuleOp module) {
  module.walk([](func::FuncOp function) { mergeEqualOps(function); });
  return success();
}

static LogicalResult runShortenDims(ModuleOp module) {
  shortenDims(module);
  return success();
}

static LogicalResult runExpandConversions(ModuleOp module) {
  return expandConversions(module);
}

static LogicalResult runNarrowFloats(ModuleOp module) {
  return emulateNarrowFloats(module);
}

static constexpr TestPass passes[] = {
    {"erase-dead-iter-args", "EraseDeadIterArgs",
     apply<populateEraseDeadIterArgsPatterns>},
    {"expand-accumulate", "ExpandAccumulate",
     apply<populateExpandAccumulatePatterns>},
    {"expand-conversions", "ExpandConversions", runExpandConversions},
    {"expand-math", "ExpandMath", apply<populateExpandMathPatterns>},
    {"expand-ops", "ExpandOps", apply<populateExpandOpsPatterns>},
    {"fold-broadcasts", "FoldBroadcasts",
     apply<populateFoldBroadcastsPatterns>},
    {"fold-broadcasts-into-sparse", "FoldBroadcasts",
     apply<populateFoldBroadcastsIntoSparsePatterns>},
    {"fold-constants", "FoldConstants", apply<populateFoldConstantsPatterns>},
    {"fold-negations", "FoldNegations", apply<populateFoldNegationsPatterns>},
    {"hoist-invariants", "HoistInvariants",
     apply<populateHoistInvariantsPatterns>},
    {"make-sequential", "MakeSequential", runMakeSequential},
    {"merge-equal-ops", "MergeEqualOps", runMergeEqualOps},
    {"narrow-floats", "NarrowFloats", runNarrowFloats},
    {"sample-factors", "SampleFactors", apply<populateSampleFactorsPatterns>},
    {"scatter-to-loops", "ExpandOps", apply<populateScatterToLoopsPatterns>},
    {"shorten-dims", "ShortenDims", runShortenDims},
    {"sparse-elementwise", "SparseElementwise",
     apply<populateSparseElementwisePatterns>},
    {"store-into-zeros", "StoreIntoZeros",
     apply<populateStoreIntoZerosPatterns>},
};

void sparse_autograd::test::registerTransformsPasses() {
  for (const TestPass &pass : passes)
    registerTestPass(pass);
}
