//===- Normalization.cpp - the form that is differentiated ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"
#include "NormalizationPatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "SparseAutograd/Transforms/ExpandAccumulate.h"
#include "SparseAutograd/Transforms/ExpandOps.h"
#include "SparseAutograd/Transforms/SparseElementwise.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static LogicalResult verifyStructured(func::FuncOp function) {
  if (function.getBody().hasOneBlock())
    return success();
  return function.emitOpError(
      "has unstructured control flow, which is not differentiated; use scf.if "
      "and scf.for");
}

/// The function that a call or a checkpoint with floating operands names; null
/// for any other op, and for a function that is only declared, which has no
/// rule; that matters if it is on the path.
static func::FuncOp findCallee(Operation *op,
                               SymbolTableCollection &symbolTables) {
  FlatSymbolRefAttr symbol;
  if (auto call = dyn_cast<func::CallOp>(op))
    symbol = call.getCalleeAttr();
  else if (auto checkpoint = dyn_cast<CheckpointOp>(op))
    symbol = checkpoint.getCalleeAttr();
  if (!symbol || llvm::none_of(op->getOperandTypes(), isDifferentiableType))
    return {};
  auto callee = symbolTables.lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
  return callee && !callee.isDeclaration() ? callee : func::FuncOp();
}

namespace {
/// Inlines calls of functions with floating operands.
class CallInliner {
public:
  LogicalResult inlineCalls(func::FuncOp function) {
    for (Operation *call : findCalls(function))
      if (failed(inlineCall(call)))
        return failure();
    return success();
  }

private:
  struct Size {
    /// The ops of the function itself.
    int64_t own = 0;
    /// Those with its calls inlined; at most `countedSize`.
    int64_t inlined = 0;
    SmallVector<func::FuncOp> callees;
  };

  static SmallVector<Operation *> findCalls(func::FuncOp function) {
    SmallVector<Operation *> calls;
    function.getBody().walk([&](Operation *op) {
      if (isa<func::CallOp, CheckpointOp>(op))
        calls.push_back(op);
    });
    return calls;
  }
  LogicalResult inlineCall(Operation *call);
  const Size &getSize(func::FuncOp function);
  bool isTooLarge(func::FuncOp callee);

  static constexpr int64_t countedSize = int64_t(1) << 40;
  static constexpr int64_t maximalInlined = 16384, maximalRepetitions = 4;

  SymbolTableCollection symbolTables;
  llvm::DenseMap<Operation *, Size> sizes;
  /// The callees being inlined, outermost first.
  SmallVector<func::FuncOp> stack;
};
} // namespace

const CallInliner::Size &CallInliner::getSize(func::FuncOp function) {
  auto [known, isNew] = sizes.try_emplace(function);
  if (!isNew)
    return known->second; // Not known yet in a recursion, an error by itself.
  Size size;
  function.getBody().walk([&](Operation *) { ++size.own; });
  for (Operation *call : findCalls(function))
    if (func::FuncOp callee = findCallee(call, symbolTables))
      size.callees.push_back(callee);
  size.inlined = size.own;
  for (func::FuncOp callee : size.callees)
    size.inlined =
        std::min(size.inlined + getSize(callee).inlined, countedSize);
  return sizes[function] = std::move(size);
}

/// Whether inlining repeats `callee`, or what it calls, so often that what
/// comes out is beyond any bound (semantics F4).
bool CallInliner::isTooLarge(func::FuncOp callee) {
  int64_t inlined = getSize(callee).inlined;
  if (inlined <= maximalInlined)
    return false;
  int64_t once = 0;
  llvm::SetVector<func::FuncOp> reached;
  reached.insert(callee);
  for (unsigned i = 0; i < reached.size(); ++i) {
    const Size &size = getSize(reached[i]);
    once += size.own;
    reached.insert_range(size.callees);
  }
  return inlined > maximalRepetitions * once;
}

/// Inlines `call`, a call or a checkpoint, and those in what it inlines, if
/// operands of theirs may have derivatives. What a checkpoint computes stays
/// together in a region.
LogicalResult CallInliner::inlineCall(Operation *call) {
  func::FuncOp callee = findCallee(call, symbolTables);
  if (!callee)
    return success();
  if (llvm::is_contained(stack, callee))
    return call->emitOpError("recursion through '")
           << callee.getSymName() << "' is not differentiated; write a loop";
  if (failed(verifyStructured(callee)))
    return failure();
  if (isTooLarge(callee))
    return call->emitOpError("'")
           << callee.getSymName() << "' would have more than " << maximalInlined
           << " operations with its calls inlined for differentiation, because "
              "functions that it reaches call others several times; call them "
              "in a loop, or return what is needed twice from one call";

  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call->getOperands());
  scf::ExecuteRegionOp region;
  if (isa<CheckpointOp>(call)) {
    region = scf::ExecuteRegionOp::create(
        builder, call->getLoc(), call->getResultTypes(), /*no_inline=*/true);
    builder.createBlock(&region.getRegion());
  }
  Block &body = callee.getBody().front();
  SmallVector<Operation *> nestedCalls;
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping)->walk([&](Operation *nested) {
      if (isa<func::CallOp, CheckpointOp>(nested))
        nestedCalls.push_back(nested);
    });
  SmallVector<Value> returned = llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
  if (region) {
    scf::YieldOp::create(builder, call->getLoc(), returned);
    call->replaceAllUsesWith(region.getResults());
  } else {
    call->replaceAllUsesWith(returned);
  }
  call->erase();

  stack.push_back(callee);
  for (Operation *nested : nestedCalls)
    if (failed(inlineCall(nested)))
      return failure();
  stack.pop_back();
  return success();
}

void sparse_autograd::inlineRegions(Operation *root) {
  root->walk([](scf::ExecuteRegionOp op) {
    if (!op.getRegion().hasOneBlock())
      return;
    Block &body = op.getRegion().front();
    Operation *yield = body.getTerminator();
    op->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    op->getBlock()->getOperations().splice(Block::iterator(op),
                                           body.getOperations());
    op.erase();
  });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// A named op of linalg is a generic; the contractions and convolutions among
/// them are recognised again by what they compute.
struct GeneralizeNamedOp : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, SampledGenericOp>(op) ||
        !op.hasPureTensorSemantics())
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

} // namespace

LogicalResult
sparse_autograd::normalizeForDifferentiation(func::FuncOp function) {
  if (failed(verifyStructured(function)))
    return failure();
  if (failed(CallInliner().inlineCalls(function)))
    return failure();

  RewritePatternSet patterns(function.getContext());
  patterns.add<GeneralizeNamedOp>(function.getContext());
  populateSparseElementwisePatterns(patterns);
  populateExpandAccumulatePatterns(patterns);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  // The factors of a square are one input.
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  SampleOp::getCanonicalizationPatterns(patterns, function.getContext());
  // Before selections become choices.
  Sparsify24LikeOp::getCanonicalizationPatterns(patterns,
                                                function.getContext());
  populateExpandOpsPatterns(patterns);
  populateReductionNormalizationPatterns(patterns);
  populateSparseExtremumNormalizationPatterns(patterns);
  populateGatherNormalizationPatterns(patterns);
  populateGenericToLoopsPatterns(patterns);
  populateControlFlowNormalizationPatterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(function, std::move(patterns), config);
}
