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

/// Inlines `call` and the calls in what it inlines, if operands of theirs may
/// have derivatives. `stack` holds the callees being inlined, outermost first.
static LogicalResult inlineCall(func::CallOp call,
                                SmallVectorImpl<func::FuncOp> &stack,
                                SymbolTableCollection &symbolTables) {
  if (llvm::none_of(call.getOperandTypes(), isDifferentiableType))
    return success();
  auto callee = symbolTables.lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  // What is declared only has no rule; that matters if it is on the path.
  if (!callee || callee.isDeclaration())
    return success();
  if (llvm::is_contained(stack, callee))
    return call.emitOpError("recursion through '")
           << callee.getSymName() << "' is not differentiated; write a loop";
  if (failed(verifyStructured(callee)))
    return failure();

  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  Block &body = callee.getBody().front();
  SmallVector<func::CallOp> nestedCalls;
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping)->walk([&](func::CallOp nested) {
      nestedCalls.push_back(nested);
    });
  for (auto [result, returned] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(returned));
  call.erase();

  stack.push_back(callee);
  for (func::CallOp nested : nestedCalls)
    if (failed(inlineCall(nested, stack, symbolTables)))
      return failure();
  stack.pop_back();
  return success();
}

static LogicalResult inlineCalls(func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  SymbolTableCollection symbolTables;
  SmallVector<func::FuncOp> stack;
  for (func::CallOp call : calls)
    if (failed(inlineCall(call, stack, symbolTables)))
      return failure();
  return success();
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
