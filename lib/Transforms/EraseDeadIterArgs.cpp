//===- EraseDeadIterArgs.cpp - what a loop carries for nobody -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/EraseDeadIterArgs.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace sparse_autograd;

/// Which of the values that `loop` carries somebody reads in the end.
static llvm::SmallBitVector findLive(scf::ForOp loop) {
  Block *body = loop.getBody();
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  llvm::SmallBitVector live(loop.getNumRegionIterArgs());
  llvm::SmallPtrSet<Operation *, 16> visited;
  SmallVector<Value> worklist;
  auto markLive = [&](unsigned index) {
    if (live.test(index))
      return;
    live.set(index);
    worklist.push_back(yield.getOperand(index));
  };
  auto addReadValues = [&](Operation *op) {
    if (visited.insert(op).second)
      forEachReadValue(op, [&](Value value) { worklist.push_back(value); });
  };
  for (OpResult result : loop.getResults())
    if (!result.use_empty())
      markLive(result.getResultNumber());
  for (Operation &op : body->without_terminator())
    if (!wouldOpBeTriviallyDead(&op))
      addReadValues(&op);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == body && argument.getArgNumber() != 0)
        markLive(argument.getArgNumber() - 1);
    } else if (value.getDefiningOp()->getBlock() == body) {
      addReadValues(value.getDefiningOp());
    }
  }
  return live;
}

namespace {

struct EraseDeadIterArgs : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop,
                                PatternRewriter &rewriter) const override {
    llvm::SmallBitVector live = findLive(loop);
    if (live.all())
      return failure();
    auto takeLive = [&](ValueRange values) {
      SmallVector<Value> taken;
      for (unsigned index : live.set_bits())
        taken.push_back(values[index]);
      return taken;
    };
    auto replacement = scf::ForOp::create(
        rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
        loop.getStep(), takeLive(loop.getInitArgs()));
    takeAttributes(replacement, loop);
    Block *body = replacement.getBody();
    // Without carried values the builder has made the terminator already.
    if (!body->empty())
      rewriter.eraseOp(body->getTerminator());
    // What reads a dead one is dead as well.
    SmallVector<Value> arguments = {replacement.getInductionVar()};
    SmallVector<Value> results;
    unsigned next = 0;
    for (auto [index, init] : llvm::enumerate(loop.getInitArgs())) {
      bool isLive = live.test(index);
      arguments.push_back(isLive ? Value(replacement.getRegionIterArg(next))
                                 : init);
      results.push_back(isLive ? replacement.getResult(next) : init);
      next += isLive;
    }
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    SmallVector<Value> yielded = takeLive(yield.getResults());
    rewriter.modifyOpInPlace(
        yield, [&] { yield.getResultsMutable().assign(yielded); });
    rewriter.mergeBlocks(loop.getBody(), body, arguments);
    rewriter.replaceOp(loop, results);
    return success();
  }
};

} // namespace

void sparse_autograd::populateEraseDeadIterArgsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<EraseDeadIterArgs>(patterns.getContext());
}
