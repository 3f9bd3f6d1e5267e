//===- InlineCalls.cpp - calls inlined in bounded functions ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/Passes.h"

#include "SparseAutograd/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Inliner.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_INLINECALLS
#include "SparseAutograd/Differentiate/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

static int64_t countOps(Region *region) {
  int64_t count = 0;
  region->walk([&](Operation *) { ++count; });
  return count;
}

namespace {
struct InlineCallsPass
    : sparse_autograd::impl::InlineCallsBase<InlineCallsPass> {
  using InlineCallsBase::InlineCallsBase;

  void runOnOperation() override {
    llvm::DenseMap<Region *, int64_t> calls, callees, callers;
    CallGraph &graph = getAnalysis<CallGraph>();
    SymbolTableCollection tables;
    for (CallGraphNode *caller : graph)
      if (!caller->isExternal())
        caller->getCallableRegion()->walk([&](CallOpInterface call) {
          CallGraphNode *callee = graph.resolveCallable(call, tables);
          if (!callee->isExternal())
            ++calls[callee->getCallableRegion()];
        });
    // Callees come before their callers: they have the size that they keep.
    auto mayInline = [&](const Inliner::ResolvedCall &resolved) {
      Region *callee = resolved.targetNode->getCallableRegion();
      Region *caller = resolved.sourceNode->getCallableRegion();
      auto [size, isNewCallee] = callees.try_emplace(callee, 0);
      if (isNewCallee)
        size->second = countOps(callee);
      auto [total, isNewCaller] = callers.try_emplace(caller, 0);
      if (isNewCaller)
        total->second = countOps(caller);
      if (calls.lookup(callee) > 1 && total->second + size->second > limit)
        return false;
      total->second += size->second;
      return true;
    };
    InlinerConfig config(
        [](OpPassManager &passes) { passes.addPass(createCanonicalize()); },
        /*maxInliningIterations=*/4);
    Inliner inliner(
        getOperation(), graph, *this, getAnalysisManager(),
        [](Pass &pass, OpPassManager &passes, Operation *op) {
          return cast<InlineCallsPass>(pass).runPipeline(passes, op);
        },
        config, mayInline);
    if (failed(inliner.doInlining()))
      signalPassFailure();
  }
};
} // namespace
