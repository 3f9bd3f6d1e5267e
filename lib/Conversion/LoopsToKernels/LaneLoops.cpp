//===- LaneLoops.cpp - loops that lanes of a warp share -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneLoops.h"

#include "../Accesses.h"
#include "../KernelOps.h"
#include "../LoopReductions.h"
#include "../NeutralElement.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "Unroll.h"
#include "Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

bool sparse_autograd::isShared(Operation *op) {
  return getSchedule(op).lanes != 0;
}

void sparse_autograd::setLanes(Operation *op, int64_t lanes) {
  Schedule schedule = getSchedule(op);
  schedule.lanes = lanes;
  setSchedule(op, schedule);
}

void sparse_autograd::shareAmongEight(scf::ForOp loop) {
  if (isShared(loop))
    setLanes(loop, 8);
}

bool sparse_autograd::containsShared(Operation *op) {
  WalkResult found = op->walk([](Operation *nested) {
    return isShared(nested) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

//===----------------------------------------------------------------------===//
// How many lanes
//===----------------------------------------------------------------------===//

/// Whether `value` is computed of what the kernel reads.
static bool isRead(const KernelNest &nest, Value value) {
  if (nest.isOutside(value))
    return false;
  Operation *op = value.getDefiningOp();
  return op && (isa<memref::LoadOp>(op) ||
                llvm::any_of(op->getOperands(), [&](Value operand) {
                  return isRead(nest, operand);
                }));
}

/// The iterations of `loop` for each of the `count` iterations of the nest:
/// those that its bounds tell, or the elements that it can visit at most. Null
/// if nothing is known.
static Value estimateTrips(OpBuilder &builder, const KernelNest &nest,
                           scf::ForOp loop, Value count) {
  Location loc = loop.getLoc();
  if (nest.isOutside(loop.getLowerBound()) &&
      nest.isOutside(loop.getUpperBound()) && nest.isOutside(loop.getStep())) {
    Value extent = builder.createOrFold<arith::SubIOp>(
        loc, loop.getUpperBound(), loop.getLowerBound());
    return builder.createOrFold<arith::CeilDivSIOp>(loc, extent,
                                                    loop.getStep());
  }
  Value trips;
  for (const Access &access : getAccesses(loop)) {
    auto index = llvm::find(access.indices, loop.getInductionVar());
    if (index == access.indices.end() || !nest.isOutside(access.memref))
      continue;
    trips = builder.createOrFold<memref::DimOp>(
        loc, access.memref, std::distance(access.indices.begin(), index));
    break;
  }
  // A part of a list: all of them are the list.
  if (trips && isRead(nest, loop.getUpperBound())) {
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value some = arith::MaxSIOp::create(builder, loc, count, one);
    trips = arith::CeilDivSIOp::create(builder, loc, trips, some);
  }
  return trips;
}

Value sparse_autograd::createLongestShared(OpBuilder &builder,
                                           const KernelNest &nest,
                                           Value count) {
  Value longest;
  WalkResult known = nest.getBody()->walk([&](scf::ForOp loop) {
    if (!isShared(loop))
      return WalkResult::advance();
    int64_t lanes = getSchedule(loop).lanes;
    bool isKnown = lanes != ScheduleAttr::asLong;
    Value trips =
        isKnown ? arith::ConstantIndexOp::create(builder, loop.getLoc(), lanes)
                : estimateTrips(builder, nest, loop, count);
    if (!trips)
      return WalkResult::interrupt();
    if (int64_t length = getVectorLength(loop); !isKnown && length > 1)
      trips = builder.createOrFold<arith::DivUIOp>(
          loop.getLoc(), trips,
          arith::ConstantIndexOp::create(builder, loop.getLoc(), length));
    longest = longest ? builder.createOrFold<arith::MaxSIOp>(loop.getLoc(),
                                                             longest, trips)
                      : trips;
    return WalkResult::advance();
  });
  return known.wasInterrupted() ? Value() : longest;
}

//===----------------------------------------------------------------------===//
// What lanes do
//===----------------------------------------------------------------------===//

namespace {
/// Accesses of all lanes, or of any of them, and those of the first one alone.
struct LaneAccesses {
  Accesses ofAll, ofFirst;

  void add(const LaneAccesses &other) {
    llvm::append_range(ofAll, other.ofAll);
    llvm::append_range(ofFirst, other.ofFirst);
  }
};

class LaneSharing {
public:
  LaneSharing(RewriterBase &rewriter, Operation *kernel, Value lane,
              Value lanes);

  void visit(Block &block);

private:
  void visit(Operation *op);
  void share(scf::ForOp loop);
  void takeTurns(scf::ForOp loop);
  void doOnce(Operation *op);
  bool areOrdered(const LaneAccesses &before, const LaneAccesses &after);
  void synchronize(Location loc);
  Value combine(Location loc, Operation *combiner, Value value);
  Value shuffle(Location loc, Value value, Value distance);
  Value constant(Location loc, int64_t value) {
    return arith::ConstantIntOp::create(rewriter, loc, rewriter.getI32Type(),
                                        value);
  }

  RewriterBase &rewriter;
  AliasAnalysis aliases;
  Value lane, lanes, logOfLanes, isFirst;
  /// The lanes of the group, a bit each.
  Value mask;
  /// Since the lanes have waited for each other.
  LaneAccesses since;
};
} // namespace

LaneSharing::LaneSharing(RewriterBase &rewriter, Operation *kernel, Value lane,
                         Value lanes)
    : rewriter(rewriter), aliases(kernel), lane(lane), lanes(lanes) {
  Location loc = kernel->getLoc();
  Type i32 = rewriter.getI32Type();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  logOfLanes = math::CountTrailingZerosOp::create(rewriter, loc, lanes);
  isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, lane,
                                  zero);
  // Ones for the lanes, from that of the first one on.
  Value count = arith::IndexCastUIOp::create(rewriter, loc, i32, lanes);
  Value others =
      arith::SubIOp::create(rewriter, loc, constant(loc, warpSize), count);
  Value ones = arith::ShRUIOp::create(rewriter, loc, constant(loc, -1), others);
  Value inWarp = gpu::LaneIdOp::create(rewriter, loc, nullptr);
  Value first = arith::SubIOp::create(rewriter, loc, inWarp, lane);
  first = arith::IndexCastUIOp::create(rewriter, loc, i32, first);
  mask = arith::ShLIOp::create(rewriter, loc, ones, first);
}

void LaneSharing::synchronize(Location loc) {
  NVVM::SyncWarpOp::create(rewriter, loc, mask);
  since = {};
}

void LaneSharing::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    visit(&op);
}

/// Whether only the first lane needs to do `op`: a store, or the load of what a
/// shared loop begins with.
static bool isOfFirst(Operation *op) {
  if (isa<memref::StoreOp>(op))
    return true;
  if (!isa<memref::LoadOp>(op) || !op->hasOneUse())
    return false;
  OpOperand &use = *op->use_begin();
  auto loop = dyn_cast<scf::ForOp>(use.getOwner());
  return loop && isShared(loop) && loop->getBlock() == op->getBlock() &&
         loop.getTiedLoopRegionIterArg(&use);
}

static void collect(Operation *op, LaneAccesses &accesses) {
  if (isShared(op) || op->getNumRegions() == 0) {
    bool isFirst = !isShared(op) && isOfFirst(op);
    llvm::append_range(isFirst ? accesses.ofFirst : accesses.ofAll,
                       getAccesses(op));
    return;
  }
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      collect(&nested, accesses);
}

/// Whether no lane waits for another one: what one lane does is in order.
bool LaneSharing::areOrdered(const LaneAccesses &before,
                             const LaneAccesses &after) {
  return !conflict(aliases, before.ofAll, after.ofAll) &&
         !conflict(aliases, before.ofAll, after.ofFirst) &&
         !conflict(aliases, before.ofFirst, after.ofAll);
}

void LaneSharing::visit(Operation *op) {
  LaneAccesses own;
  collect(op, own);
  if (own.ofAll.empty() && own.ofFirst.empty() && !isShared(op))
    return;
  rewriter.setInsertionPoint(op);
  if (!areOrdered(since, own))
    synchronize(op->getLoc());
  if (isShared(op)) {
    share(cast<scf::ForOp>(op));
  } else if (isOfFirst(op)) {
    doOnce(op);
  } else if (op->getNumRegions() != 0) {
    LaneAccesses before = std::move(since);
    bool isLoop = !isa<scf::IfOp>(op);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        since = {};
        rewriter.setInsertionPointToStart(&block);
        // After the iteration before.
        if (isLoop && !areOrdered(own, own))
          synchronize(op->getLoc());
        visit(block);
      }
    since = std::move(before);
  }
  since.add(own);
}

/// Has the first lane do `op`. The others get a zero, which they do not use.
void LaneSharing::doOnce(Operation *op) {
  Location loc = op->getLoc();
  auto branch = scf::IfOp::create(rewriter, loc, op->getResultTypes(), isFirst,
                                  /*withElseRegion=*/op->getNumResults() != 0);
  if (op->getNumResults() == 0) {
    rewriter.moveOpBefore(op, branch.thenBlock()->getTerminator());
    return;
  }
  rewriter.replaceAllUsesWith(op->getResults(), branch.getResults());
  rewriter.setInsertionPointToStart(branch.thenBlock());
  auto yield = scf::YieldOp::create(rewriter, loc, op->getResults());
  rewriter.moveOpBefore(op, yield);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  Type type = op->getResult(0).getType();
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  scf::YieldOp::create(rewriter, loc, zero);
}

/// Leaves a lane every `lanes`th iteration of `loop`, or every `lanes`th group
/// of those that it does at once. They are counted one by one: that a longer
/// step does not overflow, LLVM does not know, and then it does not unroll the
/// loop, whose loads would wait for each other.
void LaneSharing::takeTurns(scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value step = loop.getStep();
  Value count = arith::SubIOp::create(rewriter, loc, loop.getUpperBound(),
                                      loop.getLowerBound());
  int64_t length = getVectorLength(loop);
  setVectorLength(loop, 1);
  if (length > 1)
    step = arith::ConstantIndexOp::create(rewriter, loc, length);
  if (!matchPattern(step, m_One()))
    count = arith::CeilDivSIOp::create(rewriter, loc, count, step);
  // Of those from its own on: a shift rounds down, below zero as well.
  count = arith::SubIOp::create(rewriter, loc, count, lane);
  Value others = arith::SubIOp::create(rewriter, loc, lanes, one);
  count = arith::AddIOp::create(rewriter, loc, count, others);
  count = arith::ShRSIOp::create(rewriter, loc, count, logOfLanes);
  Value lower = loop.getLowerBound();
  rewriter.modifyOpInPlace(loop, [&] {
    loop.setLowerBound(zero);
    loop.setUpperBound(count);
    loop.setStep(one);
  });
  SmallVector<Operation *> iteration(
      llvm::make_pointer_range(loop.getBody()->without_terminator()));
  rewriter.setInsertionPointToStart(loop.getBody());
  Value turn = loop.getInductionVar();
  Value before = arith::MulIOp::create(rewriter, loc, turn, lanes);
  Value number = arith::AddIOp::create(rewriter, loc, before, lane);
  Value skipped = arith::MulIOp::create(rewriter, loc, number, step);
  Value index = arith::AddIOp::create(rewriter, loc, lower, skipped);
  rewriter.replaceAllUsesExcept(turn, index, before.getDefiningOp());
  repeatIteration(rewriter, loop, iteration, index, length);
  if (length == 1 && loop.getNumResults() == 0 &&
      canInterleave(*loop.getBody()))
    interleave(rewriter, loop);
}

void LaneSharing::share(scf::ForOp loop) {
  Location loc = loop.getLoc();
  setLanes(loop, 0);
  SmallVector<Operation *> combiners;
  for (OpOperand &init : loop.getInitArgsMutable()) {
    Operation *combiner = getCombiner(loop, combiners.size());
    combiners.push_back(combiner);
    Value neutral =
        arith::ConstantOp::create(rewriter, loc, getNeutralElement(combiner));
    Value own =
        arith::SelectOp::create(rewriter, loc, isFirst, init.get(), neutral);
    rewriter.modifyOpInPlace(loop, [&] { init.set(own); });
  }
  takeTurns(loop);
  rewriter.setInsertionPointAfter(loop);
  for (auto [loopResult, loopCombiner] :
       llvm::zip_equal(loop.getResults(), combiners)) {
    // What combines the results uses them as well.
    SmallVector<OpOperand *> uses(
        llvm::make_pointer_range(loopResult.getUses()));
    Value all = combine(loc, loopCombiner, loopResult);
    for (OpOperand *use : uses)
      rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(all); });
  }
}

/// `value` of all lanes, which get the same bits: in each step both of two
/// lanes combine the same two values.
Value LaneSharing::combine(Location loc, Operation *combiner, Value value) {
  Type i32 = rewriter.getI32Type(), type = value.getType();
  Value one = constant(loc, 1), none = constant(loc, 0);
  Value farthest = arith::IndexCastUIOp::create(rewriter, loc, i32, lanes);
  farthest = arith::ShRUIOp::create(rewriter, loc, farthest, one);
  auto loop = scf::WhileOp::create(
      rewriter, loc, TypeRange{type, i32}, ValueRange{value, farthest},
      [&](OpBuilder &builder, Location, ValueRange arguments) {
        Value isLeft = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ne, arguments[1], none);
        scf::ConditionOp::create(builder, loc, isLeft, arguments);
      },
      [&](OpBuilder &builder, Location, ValueRange arguments) {
        Value other = shuffle(loc, arguments[0], arguments[1]);
        Operation *both = builder.clone(*combiner);
        both->setOperands({arguments[0], other});
        Value nearer = arith::ShRUIOp::create(builder, loc, arguments[1], one);
        scf::YieldOp::create(builder, loc,
                             ValueRange{both->getResult(0), nearer});
      });
  return loop.getResult(0);
}

/// The value of the lane whose number differs by the bit `distance`.
Value LaneSharing::shuffle(Location loc, Value value, Value distance) {
  Type type = value.getType(), i32 = rewriter.getI32Type();
  auto move = [&](Value word) -> Value {
    return NVVM::ShflOp::create(rewriter, loc, word.getType(), mask, word,
                                distance, constant(loc, warpSize - 1),
                                NVVM::ShflKind::bfly, UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return move(value);
  if (type.isIndex()) {
    Type i64 = rewriter.getI64Type();
    Value bits = arith::IndexCastOp::create(rewriter, loc, i64, value);
    return arith::IndexCastOp::create(rewriter, loc, type,
                                      shuffle(loc, bits, distance));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    Value bits = arith::BitcastOp::create(
        rewriter, loc, rewriter.getIntegerType(width), value);
    return arith::BitcastOp::create(rewriter, loc, type,
                                    shuffle(loc, bits, distance));
  }
  if (width < 32) {
    Value word = arith::ExtUIOp::create(rewriter, loc, i32, value);
    return arith::TruncIOp::create(rewriter, loc, type, move(word));
  }
  Value half = arith::ConstantIntOp::create(rewriter, loc, type, 32);
  Value low = arith::TruncIOp::create(rewriter, loc, i32, value);
  Value high = arith::ShRUIOp::create(rewriter, loc, value, half);
  high = arith::TruncIOp::create(rewriter, loc, i32, high);
  low = arith::ExtUIOp::create(rewriter, loc, type, move(low));
  high = arith::ExtUIOp::create(rewriter, loc, type, move(high));
  high = arith::ShLIOp::create(rewriter, loc, high, half);
  return arith::OrIOp::create(rewriter, loc, high, low);
}

void sparse_autograd::shareLoops(RewriterBase &rewriter, Block *block,
                                 Value lane, Value lanes) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(block);
  // In the block, behind the lanes if they are computed there.
  for (Value value : {lane, lanes})
    if (Operation *op = value.getDefiningOp(); op && op->getBlock() == block)
      rewriter.setInsertionPointAfter(op);
  LaneSharing(rewriter, block->getParentOp(), lane, lanes).visit(*block);
}
