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
#include "../LoopWork.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_CHUNKLOOPS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

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
  LoopWork estimate = computeWork(builder, loop);
  Value work = builder.createOrFold<arith::MaxSIOp>(estimate.work, constant(1));
  int64_t wanted = estimate.visitsEntries ? sparseChunkWork : chunkWork;
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
  IRRewriter rewriter(&getContext());
  for (scf::ForOp loop : outermost)
    chunk(rewriter, loop);
  // What is parallel is an scf.parallel now.
  dropSchedules(getOperation());
}
