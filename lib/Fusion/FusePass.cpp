//===- FusePass.cpp - the pass sparse-autograd-fuse -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"
#include "SparseAutograd/Fusion/Passes.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "SparseAutograd/Transforms/Canonicalize.h"
#include "SparseAutograd/Transforms/FoldNegations.h"
#include "SparseAutograd/Transforms/MergeEqualOps.h"
#include "SparseAutograd/Transforms/ShortenDims.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace sparse_autograd {

#define GEN_PASS_DEF_FUSEPASS
#include "SparseAutograd/Fusion/Passes.h.inc"

/// Bodies that cost no more are computed again for each consumer.
static constexpr int64_t cheap = 12;

/// Adds the canonicalization of the dialects' ops.
template <typename... Dialects>
static void addCanonicalization(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  (context->getOrLoadDialect<Dialects>()->getCanonicalizationPatterns(patterns),
   ...);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (isa<Dialects...>(op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
}

namespace {

struct FusePass : impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet canonicalization(context);
    addCanonicalization<arith::ArithDialect, linalg::LinalgDialect,
                        scf::SCFDialect, SparseAutogradDialect,
                        tensor::TensorDialect>(canonicalization);
    canonicalize = freezeCanonicalizations(std::move(canonicalization));

    RewritePatternSet patterns(context);
    // Fills and splats fold into bodies. The fusion of producers is ours,
    // because upstream's keeps results with other uses; so is what becomes of
    // initial values that are not read, because upstream's drops what is not
    // written, and replaces the cast of an empty tensor for ever.
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [](OpOperand *) { return false; });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    populateShortenDimsPatterns(patterns);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    populateRemoveUnreadInitsPatterns(patterns);
    populateFoldIntoProductPatterns(patterns);
    populateFoldNegationsPatterns(patterns);
    populateSimplifySelectsPatterns(patterns);
    populateMergeEqualAccumulatorsPatterns(patterns);
    populateRemoveEmptyLoopsPatterns(patterns);
    addCanonicalization<arith::ArithDialect, linalg::LinalgDialect,
                        math::MathDialect, SparseAutogradDialect,
                        tensor::TensorDialect>(patterns);
    if (narrowFactors)
      populateReadNarrowFactorsPatterns(patterns);
    cleanup = freezeCanonicalizations(
        std::move(patterns),
        /*disabled=*/{"(anonymous namespace)::RemoveOutsDependency"});
    return success();
  }

  void runOnOperation() override;

private:
  LogicalResult simplify(const FrozenRewritePatternSet &patterns) {
    func::FuncOp function = getOperation();
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(function, patterns, config)))
      return function.emitError("fusion: the simplification of bodies did not "
                                "come to an end");
    return success();
  }

  LogicalResult cleanUp() {
    func::FuncOp function = getOperation();
    if (failed(simplify(cleanup)))
      return failure();
    mergeEqualOps(function);
    return success();
  }

  LogicalResult fuseProducers(
      int64_t limit,
      llvm::function_ref<bool(linalg::GenericOp)> mayRepeat = nullptr) {
    // Each round makes bodies simpler and so may make room for the next; what
    // is not reached after a few is not worth the time.
    constexpr unsigned maxRounds = 8;
    for (unsigned round = 0; round < maxRounds; ++round) {
      bool changed = fuseElementwiseProducers(getOperation(), limit, mayRepeat);
      changed |= fuseSiblings(getOperation());
      if (!changed)
        return success();
      if (failed(cleanUp()))
        return failure();
    }
    return success();
  }

  LogicalResult fuseIntoSharedLoops();
  void formRowLoops();

  /// Patterns that keep the destinations of results.
  FrozenRewritePatternSet canonicalize;
  /// Those, and patterns that simplify bodies and operands.
  FrozenRewritePatternSet cleanup;
  /// Operations that searches for members of loops over rows have gone through.
  uint64_t numSearched = 0;
};

} // namespace

/// Blocks of operations on tensors: everything but the bodies of linalg.
static SmallVector<Block *> getTensorBlocks(func::FuncOp function) {
  SmallVector<Block *> blocks;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<linalg::LinalgOp, scf::ForallOp>(op))
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        blocks.push_back(&block);
    return WalkResult::advance();
  });
  return blocks;
}

/// Finds the groups of a block, each with the members that no earlier one has.
/// Adds to `numSearched` what that has gone through.
static SmallVector<RowGroup> findRowGroups(Block &block,
                                           uint64_t &numSearched) {
  SmallVector<RowGroup> groups;
  llvm::DenseSet<Operation *> taken;
  for (Operation &op : block) {
    auto seed = dyn_cast<linalg::GenericOp>(op);
    if (!seed || taken.contains(seed))
      continue;
    RowGroup group = findRowGroup(seed, taken);
    numSearched += group.numSearched;
    if (group.members.size() < 2)
      continue;
    taken.insert_range(group.members);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Fewer elements than this are not worth a loop of their own.
static bool isSmall(const RowGroup &group) {
  constexpr int64_t smallest = 4096;
  for (Operation *op : group.members) {
    int64_t volume = 1;
    for (int64_t range : cast<linalg::LinalgOp>(op).getStaticLoopRanges()) {
      if (ShapedType::isDynamic(range) || volume * range >= smallest)
        return false;
      volume *= range;
    }
  }
  return true;
}

/// Rows that are not in a cache after the first pass over them gain nothing
/// from a loop, which then only hides that single operations can be divided.
static bool hasLongRows(const RowGroup &group) {
  constexpr int64_t longest = genericCPU.coreCacheBytes / sizeof(float);
  for (Operation *op : group.members) {
    ArrayRef<unsigned> rowLoops = group.rowLoops.find(op)->second;
    int64_t length = 1;
    SmallVector<int64_t> ranges =
        cast<linalg::LinalgOp>(op).getStaticLoopRanges();
    for (auto [loop, range] : llvm::enumerate(ranges))
      if (!llvm::is_contained(rowLoops, loop) && !ShapedType::isDynamic(range))
        length = std::min(length * std::min(range, longest + 1), longest + 1);
    if (length > longest)
      return true;
  }
  return false;
}

void FusePass::formRowLoops() {
  StringRef name = getOperation().getSymName();
  IRRewriter rewriter(&getContext());
  for (Block *block : getTensorBlocks(getOperation())) {
    SmallVector<linalg::GenericOp> seeds(block->getOps<linalg::GenericOp>());
    llvm::DenseSet<Operation *> erased;
    for (linalg::GenericOp seed : seeds) {
      if (erased.contains(seed))
        continue;
      RowGroup group = findRowGroup(seed, /*taken=*/{});
      numSearched += group.numSearched;
      auto options = [&](StringRef remarkName) {
        return remark::RemarkOpts::name(remarkName)
            .category(fusionRemarkCategory)
            .function(name);
      };
      if (group.members.size() < 2) {
        remark::missed(seed.getLoc(), options("alone"))
            << "nothing else runs over the same rows";
        continue;
      }
      if (hasLongRows(group)) {
        remark::missed(seed.getLoc(), options("long"))
            << "rows are too long to stay in a cache";
        continue;
      }
      if (isSmall(group)) {
        remark::missed(seed.getLoc(), options("small"))
            << "too few elements for a loop over rows";
        continue;
      }
      remark::passed(seed.getLoc(), options("grouped"))
          << "one loop over rows computes "
          << remark::metric("Operations", group.members.size());
      erased.insert_range(group.members);
      emitRowLoop(rewriter, group, blockElements);
    }
  }
}

namespace {
/// Which operations of a function would share a loop over rows, as it is now.
class SharedLoops {
public:
  SharedLoops(func::FuncOp function, uint64_t &numSearched) {
    unsigned number = 0;
    for (Block *block : getTensorBlocks(function))
      for (const RowGroup &group : findRowGroups(*block, numSearched)) {
        ++number;
        for (Operation *member : group.members)
          loopOf[member] = number;
      }
  }

  bool share(Operation *a, Operation *b) const {
    unsigned loop = loopOf.lookup(a);
    return loop && loop == loopOf.lookup(b);
  }

private:
  /// From 1 on.
  llvm::DenseMap<Operation *, unsigned> loopOf;
};
} // namespace

LogicalResult FusePass::fuseIntoSharedLoops() {
  func::FuncOp function = getOperation();
  bool changed = true;
  while (changed) {
    SharedLoops loops(function, numSearched);
    changed = fuseElementwiseProducers(
        function, recomputeLimit, [&](linalg::GenericOp producer) {
          return !llvm::all_of(producer->getUsers(), [&](Operation *user) {
            return loops.share(producer, user);
          });
        });
    if (changed && failed(cleanUp()))
      return failure();
  }
  if (failed(fuseProducers(std::min<int64_t>(cheap, recomputeLimit))))
    return failure();
  // What is left with several consumers is written for all of them on the way
  // of the first.
  SharedLoops loops(function, numSearched);
  if (fuseIntoFirstConsumers(function, [&](linalg::GenericOp producer,
                                           linalg::GenericOp consumer) {
        return loops.share(producer, consumer);
      }))
    return cleanUp();
  return success();
}

void FusePass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  numSearched = 0;
  generalizeNamedOps(function);
  // What is cheap is computed again. What is not is computed once, if the
  // consumers end up in one loop over rows, where its block stays in a cache.
  if (failed(cleanUp()) ||
      failed(fuseProducers(std::min<int64_t>(cheap, recomputeLimit))))
    return signalPassFailure();
  if (!groupRows) {
    if (failed(fuseProducers(recomputeLimit)))
      signalPassFailure();
    return;
  }
  if (failed(fuseIntoSharedLoops()))
    return signalPassFailure();
  formRowLoops();
  remark::analysis(function.getLoc(), remark::RemarkOpts::name("searched")
                                          .category(fusionRemarkCategory)
                                          .function(function.getSymName()))
      << "operations gone through in search of others over the same rows: "
      << remark::metric("Searched", numSearched);
  // From here on the tensor that a result is written to matters, which the
  // patterns for bodies forget, and so does that two empty tensors are two.
  if (failed(simplify(canonicalize)))
    return signalPassFailure();
}

} // namespace sparse_autograd
