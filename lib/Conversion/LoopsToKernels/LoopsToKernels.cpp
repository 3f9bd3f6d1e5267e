//===- LoopsToKernels.cpp - loops to kernels of a GPU ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LoopsToKernels/LoopsToKernels.h"

#include "../KernelOps.h"
#include "../RuntimeCalls.h"
#include "DeferAssertions.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Transforms/MakeSequential.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_LOOPSTOKERNELS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Threads of a block where nothing asks for another number.
static constexpr int64_t blockThreads = 256;

/// Whether `op`, or an op in it, reads or writes elements on the device.
static bool accessesDevice(Operation *op) {
  bool accesses = false;
  forEachAccess(
      op, [&](Value memref) { accesses |= isOnDevice(memref.getType()); });
  return accesses;
}

namespace {
class KernelBuilder {
public:
  explicit KernelBuilder(func::FuncOp function)
      : rewriter(function.getContext()) {}

  LogicalResult visit(Block &block);

private:
  void launchLoop(Operation *op);
  LogicalResult flush();
  LogicalResult launchAlone();
  void loadOnHost(memref::LoadOp op);
  gpu::LaunchOp createLaunch(Location loc, Value blocks, int64_t threads);
  Value index(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }

  IRRewriter rewriter;
  /// Ops one after the other that are no parallel loops and access the device,
  /// or are computed of what those read.
  SmallVector<Operation *> run;
};
} // namespace

gpu::LaunchOp KernelBuilder::createLaunch(Location loc, Value blocks,
                                          int64_t threads) {
  Value one = index(loc, 1), count = index(loc, threads);
  auto launch =
      gpu::LaunchOp::create(rewriter, loc, blocks, one, one, count, one, one);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

/// Parallel loops directly within one another: of all but the last nothing but
/// reads is done around the next one.
static SmallVector<scf::ForOp> getNest(scf::ForOp loop) {
  SmallVector<scf::ForOp> nest = {loop};
  while (true) {
    scf::ForOp outer = nest.back(), inner;
    for (Operation &op : outer.getBody()->without_terminator()) {
      if (isParallelLoop(&op) && isa<scf::ForOp>(op) && !inner)
        inner = cast<scf::ForOp>(op);
      else if (!isa<memref::LoadOp>(op) && !isPure(&op))
        return nest;
    }
    if (!inner || llvm::any_of(inner->getOperands(), [&](Value bound) {
          return !loop.isDefinedOutsideOfLoop(bound);
        }))
      return nest;
    nest.push_back(inner);
  }
}

/// Replaces a loop by a kernel with a thread for each iteration. An iteration
/// is computed by its thread alone, in the order of the program.
void KernelBuilder::launchLoop(Operation *op) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> lower, upper, step;
  SmallVector<scf::ForOp> nest;
  if (auto parallel = dyn_cast<scf::ParallelOp>(op)) {
    lower = parallel.getLowerBound();
    upper = parallel.getUpperBound();
    step = parallel.getStep();
  } else {
    nest = getNest(cast<scf::ForOp>(op));
    for (scf::ForOp loop : nest) {
      lower.push_back(loop.getLowerBound());
      upper.push_back(loop.getUpperBound());
      step.push_back(loop.getStep());
    }
  }
  Value zero = index(loc, 0), total = index(loc, 1);
  SmallVector<Value> counts;
  for (auto [from, to, by] : llvm::zip_equal(lower, upper, step)) {
    Value extent = arith::SubIOp::create(rewriter, loc, to, from);
    Value count = arith::CeilDivSIOp::create(rewriter, loc, extent, by);
    counts.push_back(arith::MaxSIOp::create(rewriter, loc, count, zero));
    total = arith::MulIOp::create(rewriter, loc, total, counts.back());
  }
  Value threads = index(loc, blockThreads);
  Value blocks = arith::CeilDivUIOp::create(rewriter, loc, total, threads);
  gpu::LaunchOp launch = createLaunch(loc, blocks, blockThreads);

  Value first = arith::MulIOp::create(rewriter, loc, launch.getBlockIds().x,
                                      launch.getBlockSize().x);
  Value number =
      arith::AddIOp::create(rewriter, loc, first, launch.getThreadIds().x);
  Value isInside = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, number, total);
  auto branch = scf::IfOp::create(rewriter, loc, isInside);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  // The last variable is that of neighbouring threads, which so access what
  // lies side by side.
  SmallVector<Value> values(counts.size());
  for (size_t dim = counts.size(); dim-- > 0;) {
    Value place = number;
    if (dim != 0) {
      place = arith::RemUIOp::create(rewriter, loc, number, counts[dim]);
      number = arith::DivUIOp::create(rewriter, loc, number, counts[dim]);
    }
    place = arith::MulIOp::create(rewriter, loc, place, step[dim]);
    values[dim] = arith::AddIOp::create(rewriter, loc, lower[dim], place);
  }
  auto inlineBody = [&](Operation *loop, Block *body, Operation *before,
                        ValueRange variables) {
    rewriter.eraseOp(body->getTerminator());
    rewriter.inlineBlockBefore(body, before, variables);
    rewriter.eraseOp(loop);
  };
  Operation *end = branch.thenBlock()->getTerminator();
  if (nest.empty())
    inlineBody(op, &op->getRegion(0).front(), end, values);
  for (auto [loop, value] : llvm::zip(nest, values))
    inlineBody(loop, loop.getBody(), loop == op ? end : loop.getOperation(),
               value);
  // Within a thread loops are loops.
  SmallVector<scf::ParallelOp> nested;
  launch.walk([&](scf::ParallelOp loop) { nested.push_back(loop); });
  for (scf::ParallelOp loop : nested)
    makeSequential(rewriter, loop);
  launch.walk([](scf::ForOp loop) {
    loop->removeAttr(SparseAutogradDialect::getParallelAttrName());
  });
}

//===----------------------------------------------------------------------===//
// What is not parallel
//===----------------------------------------------------------------------===//

/// Copies an element that the host reads to the host, and so waits.
void KernelBuilder::loadOnHost(memref::LoadOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto type = op.getMemRefType();
  SmallVector<OpFoldResult> offsets(op.getIndices().begin(),
                                    op.getIndices().end());
  SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
  auto elementType =
      cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
          {}, type, offsets, ones, ones));
  Value element = memref::SubViewOp::create(
      rewriter, loc, elementType, op.getMemref(), offsets, ones, ones);
  Value onHost = memref::AllocaOp::create(
      rewriter, loc, MemRefType::get({}, type.getElementType()));
  memref::CopyOp::create(rewriter, loc, element, onHost);
  rewriter.replaceOpWithNewOp<memref::LoadOp>(op, onHost);
}

/// Has a kernel of one thread do the run. What is used behind it goes through
/// memory of the device.
LogicalResult KernelBuilder::launchAlone() {
  Operation *last = run.back();
  Location loc = run.front()->getLoc();
  rewriter.setInsertionPointAfter(last);
  Attribute space = gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                               gpu::AddressSpace::Global);
  SmallVector<std::pair<Value, Value>> places;
  for (Operation *op : run)
    for (Value result : op->getResults()) {
      bool isUsed = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return llvm::none_of(
            run, [&](Operation *member) { return member->isAncestor(user); });
      });
      if (!isUsed)
        continue;
      Type type = result.getType();
      if (!type.isIntOrIndexOrFloat())
        return op->emitOpError("results in a ")
               << type << ", which no kernel hands to the host";
      Value place = memref::AllocOp::create(
          rewriter, loc,
          MemRefType::get({}, type, MemRefLayoutAttrInterface(), space));
      places.push_back({result, place});
    }
  gpu::LaunchOp launch = createLaunch(loc, index(loc, 1), 1);
  Operation *end = launch.getBody().front().getTerminator();
  for (Operation *op : run)
    rewriter.moveOpBefore(op, end);
  rewriter.setInsertionPoint(end);
  for (auto [result, place] : places)
    memref::StoreOp::create(rewriter, loc, result, place);
  rewriter.setInsertionPointAfter(launch);
  for (auto [result, place] : places) {
    auto load = memref::LoadOp::create(rewriter, loc, place);
    memref::DeallocOp::create(rewriter, loc, place);
    Value(result).replaceUsesWithIf(load, [&](OpOperand &use) {
      return !launch->isAncestor(use.getOwner());
    });
    OpBuilder::InsertionGuard guard(rewriter);
    loadOnHost(load);
  }
  return success();
}

/// Ends the run. If it only reads, the host does it.
LogicalResult KernelBuilder::flush() {
  auto isKernel = [](Operation *op) {
    return !isa<memref::LoadOp>(op) && !isPure(op);
  };
  while (!run.empty() && isPure(run.back()))
    run.pop_back();
  LogicalResult done = success();
  if (llvm::any_of(run, isKernel)) {
    done = launchAlone();
  } else {
    for (Operation *op : run)
      if (auto load = dyn_cast<memref::LoadOp>(op))
        loadOnHost(load);
  }
  run.clear();
  return done;
}

LogicalResult KernelBuilder::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool isOfDevice = accessesDevice(&op);
    if (isPure(&op) && op.getNumRegions() == 0 &&
        !op.hasTrait<OpTrait::IsTerminator>()) {
      bool isComputed = llvm::any_of(op.getOperands(), [&](Value operand) {
        return llvm::is_contained(run, operand.getDefiningOp());
      });
      if (!isComputed)
        continue;
      if (llvm::all_of(op.getResultTypes(),
                       [](Type type) { return type.isIntOrIndexOrFloat(); }))
        run.push_back(&op);
      else if (failed(flush())) // A view, at a place that the host reads.
        return failure();
      continue;
    }
    bool isHost = isHostControlFlow(&op);
    if (isOfDevice && !isHost && !isParallelLoop(&op) &&
        !isa<memref::CopyOp>(op)) {
      run.push_back(&op);
      continue;
    }
    if (failed(flush()))
      return failure();
    // The runtime copies.
    if (!isOfDevice || isa<memref::CopyOp>(op))
      continue;
    if (isParallelLoop(&op)) {
      launchLoop(&op);
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        if (failed(visit(nested)))
          return failure();
  }
  return flush();
}

namespace {
struct LoopsToKernelsPass
    : sparse_autograd::impl::LoopsToKernelsBase<LoopsToKernelsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (Block &block : function.getBody())
      if (failed(KernelBuilder(function).visit(block)))
        return signalPassFailure();
    if (failed(deferAssertions(function)))
      signalPassFailure();
  }
};
} // namespace
