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

/// Inlines `call`, a call or a checkpoint, and those in what it inlines, if
/// operands of theirs may have derivatives. What a checkpoint computes stays
/// together in a region. `stack` holds the callees being inlined, outermost
/// first.
static LogicalResult inlineCall(Operation *call,
                                SmallVectorImpl<func::FuncOp> &stack,
                                SymbolTableCollection &symbolTables) {
  func::FuncOp callee = findCallee(call, symbolTables);
  if (!callee)
    return success();
  if (llvm::is_contained(stack, callee))
    return call->emitOpError("recursion through '")
           << callee.getSymName() << "' is not differentiated; write a loop";
  if (failed(verifyStructured(callee)))
    return failure();

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
    if (failed(inlineCall(nested, stack, symbolTables)))
      return failure();
  stack.pop_back();
  return success();
}

static LogicalResult inlineCalls(func::FuncOp function) {
  SmallVector<Operation *> calls;
  function.walk([&](Operation *op) {
    if (isa<func::CallOp, CheckpointOp>(op))
      calls.push_back(op);
  });
  SymbolTableCollection symbolTables;
  SmallVector<func::FuncOp> stack;
  for (Operation *call : calls)
    if (failed(inlineCall(call, stack, symbolTables)))
      return failure();
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
  if (failed(inlineCalls(function)))
    return failure();

  RewritePatternSet patterns(function.getContext());
  patterns.add<GeneralizeNamedOp>(function.getContext());
  populateSparseElementwisePatterns(patterns);
  populateExpandAccumulatePatterns(patterns);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  // The factors of a square are one input.
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  SampleOp::getCanonicalizationPatterns(patterns, function.getContext());
  populateExpandOpsPatterns(patterns);
  populateReductionNormalizationPatterns(patterns);
  populateGatherNormalizationPatterns(patterns);
  populateGenericToLoopsPatterns(patterns);
  populateControlFlowNormalizationPatterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(function, std::move(patterns), config);
}
