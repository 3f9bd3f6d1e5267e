//===- ScheduleLanes.cpp - loops that lanes of a warp share ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LoopsToKernels/LoopsToKernels.h"

#include "../Accesses.h"
#include "../KernelOps.h"
#include "../LoopReductions.h"
#include "KernelNest.h"
#include "LaneLoops.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SplitEntries.h"
#include "SplitSums.h"
#include "Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_SCHEDULELANES
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// A loop of fewer iterations is not worth the shuffles.
static constexpr int64_t leastTrips = 4;

/// How many of the accesses in `op` neighbouring values of `variable` make to
/// neighbouring elements.
static int64_t countSideBySide(Operation *op, Value variable) {
  return llvm::count_if(getAccesses(op), [&](const Access &access) {
    return !access.indices.empty() &&
           isSideBySide(access.indices.back(), variable);
  });
}

/// Whether `value` is computed of `variable`, or of what is read there.
/// `independent` are ops that are not.
static bool dependsOn(Value value, Value variable,
                      SmallPtrSetImpl<Operation *> &independent) {
  if (value == variable)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || independent.contains(op))
    return false;
  for (Value operand : op->getOperands())
    if (dependsOn(operand, variable, independent))
      return true;
  independent.insert(op);
  return false;
}

/// Whether the iterations of `variable` differ in what `loop` accesses. If not,
/// threads that each do one of them read an element together.
static bool accessesDiffer(scf::ForOp loop, Value variable) {
  llvm::SmallPtrSet<Operation *, 16> independent;
  auto differs = [&](Value value) {
    return dependsOn(value, variable, independent);
  };
  if (differs(loop.getLowerBound()) || differs(loop.getUpperBound()))
    return true;
  return llvm::any_of(getAccesses(loop), [&](const Access &access) {
    return llvm::any_of(access.indices, differs);
  });
}

static void mark(Block &block, Value variable);

/// Marks `loop` if it is to be shared, or else loops in it: where the threads
/// of the iterations of `variable`, or the lanes of a loop around, would not
/// access neighbouring elements anyway.
static void markLoop(scf::ForOp loop, Value variable) {
  bool mayShare = isReorderable(loop);
  mark(*loop.getBody(), mayShare ? loop.getInductionVar() : variable);
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (containsShared(loop) || !mayShare || (trips && trips->ult(leastTrips)) ||
      (variable && (countSideBySide(loop, variable) != 0 ||
                    !accessesDiffer(loop, variable))) ||
      countSideBySide(loop, loop.getInductionVar()) == 0)
    return;
  setLanes(loop, ScheduleAttr::asLong);
}

/// Marks the loops of `block`, innermost ones first.
static void mark(Block &block, Value variable) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      markLoop(loop, variable);
    else if (isa<scf::IfOp>(op))
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          mark(nested, variable);
  }
}

static bool containsSharedOrIs(Operation &op) {
  return isShared(&op) || containsShared(&op);
}

/// Says who does an iteration of the parallel loops `nest` at `op`: lanes
/// together, if a loop in it was to be shared and still is.
static void remarkLanes(Operation *op, KernelNest &nest, bool hadShared) {
  size_t numLoops = nest.getVariables().size();
  std::string what = std::to_string(numLoops) +
                     (numLoops == 1 ? " parallel loop: " : " parallel loops: ");
  if (llvm::any_of(*nest.getBody(), containsSharedOrIs))
    remarkChosen(op->getLoc(), op, "lanes",
                 what + "lanes do an iteration together");
  else
    remarkDeclined(op->getLoc(), op, "lanes",
                   what + "a thread does an iteration, since " +
                       (hadShared ? "lanes would wait for one of them"
                                  : "no loop in it has neighbouring accesses "
                                    "that those of the threads are not"));
}

static void unmark(Operation *op) {
  op->walk([](Operation *nested) { setLanes(nested, 0); });
}

/// Whether lanes can do everything of `block` but the shared loops each, and
/// are not kept waiting by a loop that only one of them needs to do.
static bool canBeRepeated(Block &block) {
  return llvm::all_of(block, [](Operation &op) {
    if (isShared(&op))
      return true;
    if (isa<scf::ForOp>(op) && !containsShared(&op))
      return false;
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      return llvm::all_of(op.getRegions(), [](Region &region) {
        return llvm::all_of(region, canBeRepeated);
      });
    return isa<memref::LoadOp, memref::StoreOp, cf::AssertOp>(op) ||
           op.hasTrait<OpTrait::IsTerminator>() ||
           (isPure(&op) && op.getNumRegions() == 0);
  });
}

namespace {
struct ScheduleLanesPass
    : sparse_autograd::impl::ScheduleLanesBase<ScheduleLanesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> loops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::LaunchOp>(op))
        return WalkResult::skip();
      if (isParallelLoop(op)) {
        KernelNest nest(op);
        Block *body = nest.getBody();
        mark(*body, nest.getVariables().back());
        bool hasShared = llvm::any_of(*body, containsSharedOrIs);
        if (!canBeRepeated(*body))
          unmark(op);
        remarkLanes(op, nest, hasShared);
        loops.push_back(op);
        return WalkResult::skip();
      }
      // A sum that is no iteration of anything.
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop || isHostControlFlow(loop))
        return WalkResult::advance();
      if (accessesDevice(loop)) {
        markLoop(loop, nullptr);
        if (!isShared(loop) &&
            !(containsShared(loop) && canBeRepeated(*loop.getBody())))
          unmark(loop);
      }
      return WalkResult::skip();
    });
    IRRewriter rewriter(&getContext());
    for (Operation *loop : loops) {
      auto rows = dyn_cast<scf::ForOp>(loop);
      if (!rows || !splitEntries(rewriter, rows))
        splitSums(rewriter, KernelNest(loop));
    }
    markVectors(rewriter, getOperation());
  }
};
} // namespace
