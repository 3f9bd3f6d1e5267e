//===- ChunkLoops.cpp - independent iterations in chunks ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grain of parallel loops of the CPU. It is chosen where all loops over
// the same rows are one, from what these do: loops that are made one by one
// would have chunks of their own.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/ChunkLoops/ChunkLoops.h"

#include "../KernelOps.h"
#include "../Segments.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/Estimates.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_CHUNKLOOPS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

namespace {
/// Computes, before a loop, what all of its iterations cost, in the unit of
/// getCostBesideMemory.
class WorkOfLoop {
public:
  WorkOfLoop(ImplicitLocOpBuilder &builder, scf::ForOp loop)
      : builder(builder), outermost(loop) {}

  Value compute();

  /// Whether the entries of rows of a sparse tensor are among its iterations.
  bool visitsEntries() const { return hasEntries; }

private:
  /// The iterations of a loop, those of all its executions together.
  struct Iterations {
    Value count;
    /// The first one and the end, if each number in between is one of them.
    Value begin, end;
  };

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  Value getLength(Value begin, Value end);
  Iterations getIterations(scf::ForOp loop, Value outer,
                           const Iterations &around);
  void add(Value count, int64_t cost);
  void addBlock(Block &block, Value variable, const Iterations &iterations);
  int64_t addOps(Block &block, Value variable, const Iterations &iterations);

  ImplicitLocOpBuilder &builder;
  scf::ForOp outermost;
  Value work;
  bool hasEntries = false;
};
} // namespace

Value WorkOfLoop::getLength(Value begin, Value end) {
  Value length = builder.createOrFold<arith::SubIOp>(end, begin);
  return builder.createOrFold<arith::MaxSIOp>(length, constant(0));
}

void WorkOfLoop::add(Value count, int64_t cost) {
  Value product = builder.createOrFold<arith::MulIOp>(count, constant(cost));
  work = work ? builder.createOrFold<arith::AddIOp>(work, product) : product;
}

/// Those of `loop` in the iterations `around` of the loop whose variable is
/// `outer`. The segments of neighbouring rows in a list are neighbours.
WorkOfLoop::Iterations WorkOfLoop::getIterations(scf::ForOp loop, Value outer,
                                                 const Iterations &around) {
  Value list = getPositions(loop.getInductionVar(), outer);
  if (list && around.begin && outermost.isDefinedOutsideOfLoop(list)) {
    hasEntries = true;
    Positions positions{builder, builder.getLoc(), list};
    Value begin = positions.at(around.begin), end = positions.at(around.end);
    return {getLength(begin, end), begin, end};
  }
  Value length = constant(estimates.rowEntries);
  if (outermost.isDefinedOutsideOfLoop(loop.getLowerBound()) &&
      outermost.isDefinedOutsideOfLoop(loop.getUpperBound()))
    length = getLength(loop.getLowerBound(), loop.getUpperBound());
  return {builder.createOrFold<arith::MulIOp>(around.count, length), {}, {}};
}

/// Adds the loops of `block`, and returns the cost of the rest.
int64_t WorkOfLoop::addOps(Block &block, Value variable,
                           const Iterations &iterations) {
  int64_t cost = 0;
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      addBlock(*loop.getBody(), loop.getInductionVar(),
               getIterations(loop, variable, iterations));
      continue;
    }
    cost += getCostBesideMemory(op);
    // A search, or a merge of two rows.
    int64_t times = isa<scf::WhileOp>(op) ? estimates.rowEntries : 1;
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        cost += times * (1 + addOps(nested, variable, iterations));
  }
  return cost;
}

void WorkOfLoop::addBlock(Block &block, Value variable,
                          const Iterations &iterations) {
  int64_t cost = addOps(block, variable, iterations);
  add(iterations.count, 1 + cost);
}

Value WorkOfLoop::compute() {
  Value begin = outermost.getLowerBound(), end = outermost.getUpperBound();
  addBlock(*outermost.getBody(), outermost.getInductionVar(),
           {getLength(begin, end), begin, end});
  return work;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

namespace {
struct ChunkLoopsPass : sparse_autograd::impl::ChunkLoopsBase<ChunkLoopsPass> {
  using ChunkLoopsBase::ChunkLoopsBase;

  void runOnOperation() override;

private:
  void chunk(IRRewriter &rewriter, scf::ForOp loop) const;
};
} // namespace

/// Makes `loop` one over chunks of its iterations, each of which has about as
/// much to do as is wanted if iterations are alike.
void ChunkLoopsPass::chunk(IRRewriter &rewriter, scf::ForOp loop) const {
  rewriter.setInsertionPoint(loop);
  ImplicitLocOpBuilder builder(loop.getLoc(), rewriter);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, value);
  };
  Value begin = loop.getLowerBound(), end = loop.getUpperBound();
  Value count = builder.createOrFold<arith::SubIOp>(end, begin);
  WorkOfLoop estimate(builder, loop);
  Value work =
      builder.createOrFold<arith::MaxSIOp>(estimate.compute(), constant(1));
  int64_t wanted = estimate.visitsEntries() ? sparseChunkWork : chunkWork;
  Value scaled = builder.createOrFold<arith::MulIOp>(
      count, constant(std::max<int64_t>(1, wanted)));
  Value size = builder.createOrFold<arith::CeilDivSIOp>(scaled, work);
  size = builder.createOrFold<arith::MaxSIOp>(size, constant(1));
  Value chunks = builder.createOrFold<arith::CeilDivSIOp>(count, size);
  auto parallel = scf::ParallelOp::create(builder, ValueRange(constant(0)),
                                          chunks, ValueRange(constant(1)));
  rewriter.setInsertionPointToStart(parallel.getBody());
  builder.setInsertionPointToStart(parallel.getBody());
  Value offset =
      arith::MulIOp::create(builder, parallel.getInductionVars()[0], size);
  Value first = builder.createOrFold<arith::AddIOp>(begin, offset);
  Value last = arith::AddIOp::create(builder, first, size);
  last = arith::MinSIOp::create(builder, last, end);
  rewriter.moveOpBefore(loop, parallel.getBody()->getTerminator());
  rewriter.modifyOpInPlace(loop, [&] {
    loop.setLowerBound(first);
    loop.setUpperBound(last);
  });
}

/// Says which loops run on one thread: outermost ones that write, whose
/// schedule is not `parallel`. A pass may have lost that.
static void remarkSequential(scf::ForOp loop) {
  if (getSchedule(loop).isParallel || isInParallelLoop(loop) ||
      loop->getParentOfType<scf::ForOp>())
    return;
  bool writes = loop.getBody()
                    ->walk([](Operation *op) {
                      return isa<memref::StoreOp>(op) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
                    })
                    .wasInterrupted();
  if (writes)
    remarkDeclined(loop.getLoc(), loop, "parallel",
                   "a loop runs on one thread, since its iterations are not "
                   "known to write to different places");
}

void ChunkLoopsPass::runOnOperation() {
  // As long as a loop carries something its iterations follow each other.
  getOperation()->walk([](scf::ForOp loop) {
    if (!loop.getInitArgs().empty())
      setSchedule(loop, {});
  });
  SmallVector<scf::ForOp> outermost;
  getOperation()->walk([&](scf::ForOp loop) {
    if (getSchedule(loop).isParallel && !isInParallelLoop(loop))
      outermost.push_back(loop);
  });
  if (hasRemarks(&getContext()))
    getOperation()->walk(remarkSequential);
  IRRewriter rewriter(&getContext());
  for (scf::ForOp loop : outermost)
    chunk(rewriter, loop);
  // What is parallel is an scf.parallel now.
  dropSchedules(getOperation());
}
