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
#include "DeviceBounds.h"
#include "IndexBuilder.h"
#include "KernelNest.h"
#include "LaneLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Transforms/MakeSequential.h"
#include "Unroll.h"
#include "UnrollAndJam.h"
#include "Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_LOOPSTOKERNELS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// The threads of a kernel.
struct Threads {
  gpu::LaunchOp launch;
  /// Which iteration a thread does: one number of all loops, or one of all but
  /// the last, and one of the last.
  SmallVector<Value> numbers;
  /// Whether there is such an iteration.
  Value isInside;
  /// How far the next one that the thread does is, in the first number, and how
  /// many it does; null if it does one.
  Value stride = {}, turns = {};
};

class KernelBuilder {
public:
  explicit KernelBuilder(func::FuncOp function)
      : rewriter(function.getContext()) {}

  LogicalResult visit(Block &block);
  /// Has the kernels read the bounds of their loops, and the host those that it
  /// needs as well.
  void readBounds();

private:
  void launchLoop(Operation *op);
  Value createTotal(Location loc, ValueRange counts);
  void createVector(Location loc, Block &body, ValueRange variables,
                    int64_t length);
  LogicalResult flush();
  LogicalResult launchAlone();
  void loadOnHost(memref::LoadOp op);
  void addTurns(Location loc, Threads &threads, Value stride, Value count);
  gpu::LaunchOp createLaunch(Location loc, Value blocks, Value width,
                             Value height);
  Threads launchLine(Location loc, Value count, bool severalEach);
  Threads launchPlane(Location loc, Value rows, Value columns,
                      bool severalEach);
  Threads launchGroups(Location loc, Value count, Value lanes);
  Value createPowerOf2(Location loc, Value value, int64_t most);
  /// first * size + second
  Value createNumber(Location loc, Value first, Value size, Value second) {
    first = arith::MulIOp::create(rewriter, loc, first, size);
    return arith::AddIOp::create(rewriter, loc, first, second);
  }
  Value createTimes(Location loc, Value value, int64_t times) {
    return rewriter.createOrFold<arith::MulIOp>(loc, value, index(loc, times));
  }
  Value isLess(Location loc, Value number, Value count) {
    return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                 number, count);
  }
  Value index(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }

  IRRewriter rewriter;
  /// Ops one after the other that are no parallel loops and access the device,
  /// or are computed of what those read.
  SmallVector<Operation *> run;
  /// Those that nobody reads yet.
  SmallVector<DeviceBound> bounds;
};
} // namespace

gpu::LaunchOp KernelBuilder::createLaunch(Location loc, Value blocks,
                                          Value width, Value height) {
  Value one = index(loc, 1);
  auto launch = gpu::LaunchOp::create(rewriter, loc, blocks, one, one, width,
                                      height, one);
  constexpr int32_t blocksAtOnce = 4;
  setBlocksAtOnce(launch, blocksAtOnce);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

/// The least power of 2 that is not less than `value`, up to `most`, one too.
Value KernelBuilder::createPowerOf2(Location loc, Value value, int64_t most) {
  Value power = index(loc, most);
  for (int64_t less = most / 2; less > 0; less /= 2) {
    // Folded, so that a number that is known is a constant.
    Value isEnough = rewriter.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::sle, value, index(loc, less));
    power = rewriter.createOrFold<arith::SelectOp>(loc, isEnough,
                                                   index(loc, less), power);
  }
  return power;
}

/// Has threads whose first numbers are less than `count` do what is `stride`
/// and more further on as well.
void KernelBuilder::addTurns(Location loc, Threads &threads, Value stride,
                             Value count) {
  Value rest =
      arith::SubIOp::create(rewriter, loc, count, threads.numbers.front());
  // Few are left then, and a division of 64 bits takes long.
  Value most = createTimes(loc, stride, interleavedIterations);
  rest = arith::MinUIOp::create(rewriter, loc, rest, most);
  IndexBuilder numbers = {rewriter, loc};
  Value turns = arith::CeilDivUIOp::create(rewriter, loc, numbers.narrow(rest),
                                           numbers.narrow(stride));
  threads.stride = stride;
  threads.turns = numbers.widen(turns);
}

/// A thread for each iteration of one loop, or for several, a block apart.
Threads KernelBuilder::launchLine(Location loc, Value count, bool severalEach) {
  Value one = index(loc, 1), width = index(loc, blockThreads);
  Value size =
      index(loc, blockThreads * (severalEach ? interleavedIterations : 1));
  Value blocks = arith::CeilDivUIOp::create(rewriter, loc, count, size);
  gpu::LaunchOp launch = createLaunch(loc, blocks, width, one);
  Value number =
      createNumber(loc, launch.getBlockIds().x, size, launch.getThreadIds().x);
  Threads threads = {launch, {number}, isLess(loc, number, count)};
  if (severalEach)
    addTurns(loc, threads, width, count);
  return threads;
}

/// A thread for each of `rows` times `columns` iterations, or for several in a
/// column, in blocks that are as wide as a warp or as the rows. Neighbours are
/// neighbours in a row.
Threads KernelBuilder::launchPlane(Location loc, Value rows, Value columns,
                                   bool severalEach) {
  Value width = createPowerOf2(loc, columns, warpSize);
  Value height =
      arith::DivUIOp::create(rewriter, loc, index(loc, blockThreads), width);
  Value across = arith::CeilDivUIOp::create(rewriter, loc, columns, width);
  int64_t turns = severalEach ? interleavedIterations : 1;
  Value depth = createTimes(loc, height, turns);
  Value down = arith::CeilDivUIOp::create(rewriter, loc, rows, depth);
  Value blocks = arith::MulIOp::create(rewriter, loc, across, down);
  gpu::LaunchOp launch = createLaunch(loc, blocks, width, height);
  // There are less than 2^31 blocks.
  IndexBuilder numbers = {rewriter, loc};
  Value block = numbers.narrow(launch.getBlockIds().x);
  Value narrowed = numbers.narrow(across);
  Value blockRow =
      numbers.widen(arith::DivUIOp::create(rewriter, loc, block, narrowed));
  Value blockColumn =
      numbers.widen(arith::RemUIOp::create(rewriter, loc, block, narrowed));
  Value ownHeight = launch.getBlockSize().y;
  Value ownDepth = createTimes(loc, ownHeight, turns);
  Value row = createNumber(loc, blockRow, ownDepth, launch.getThreadIds().y);
  Value column = createNumber(loc, blockColumn, launch.getBlockSize().x,
                              launch.getThreadIds().x);
  Value isInside = arith::AndIOp::create(rewriter, loc, isLess(loc, row, rows),
                                         isLess(loc, column, columns));
  Threads threads = {launch, {row, column}, isInside};
  if (severalEach)
    addTurns(loc, threads, ownHeight, rows);
  return threads;
}

/// `lanes` threads for each of `count` iterations.
Threads KernelBuilder::launchGroups(Location loc, Value count, Value lanes) {
  Value groups =
      arith::DivUIOp::create(rewriter, loc, index(loc, blockThreads), lanes);
  Value blocks = arith::CeilDivUIOp::create(rewriter, loc, count, groups);
  gpu::LaunchOp launch = createLaunch(loc, blocks, lanes, groups);
  Value number = createNumber(loc, launch.getBlockIds().x,
                              launch.getBlockSize().y, launch.getThreadIds().y);
  return {launch, {number}, isLess(loc, number, count)};
}

/// Creates what `length` iterations of `body` do, of which `variables` are
/// those of the first one and the last of these is their number.
void KernelBuilder::createVector(Location loc, Block &body,
                                 ValueRange variables, int64_t length) {
  UnrollAndJam iterations(body, body.getArguments().back());
  SmallVector<Value> numbers = {variables.back()};
  for (int64_t offset = 1; offset < length; ++offset)
    numbers.push_back(arith::AddIOp::create(rewriter, loc, variables.back(),
                                            index(loc, offset)));
  rewriter.replaceAllUsesWith(body.getArguments().drop_back(),
                              variables.drop_back());
  iterations.createIterations(rewriter, numbers);
}

/// The product of `counts`.
Value KernelBuilder::createTotal(Location loc, ValueRange counts) {
  Value total = index(loc, 1);
  for (Value count : counts)
    total = arith::MulIOp::create(rewriter, loc, total, count);
  return total;
}

/// Replaces a loop by a kernel with a thread for each iteration, or with a
/// group of lanes that share loops in it. The order in which numbers are added
/// up is that of the program, or depends on the number of lanes alone.
void KernelBuilder::launchLoop(Operation *op) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  KernelNest nest(op);
  Value zero = index(loc, 0);
  Operation *innermost = nest.getInnermost();
  VectorBuffers vectorBuffers = getVectorBuffers(op);
  int64_t length = getVectorLength(innermost);
  auto createCounts = [&](ValueRange ends) {
    SmallVector<Value> counts;
    for (auto [from, to, by] :
         llvm::zip_equal(nest.getLowerBounds(), ends, nest.getSteps())) {
      Value extent = arith::SubIOp::create(rewriter, loc, to, from);
      Value count = arith::CeilDivSIOp::create(rewriter, loc, extent, by);
      counts.push_back(arith::MaxSIOp::create(rewriter, loc, count, zero));
    }
    if (length > 1)
      counts.back() = rewriter.createOrFold<arith::DivUIOp>(loc, counts.back(),
                                                            index(loc, length));
    return counts;
  };
  // There are threads for as many iterations as the host knows of.
  SmallVector<Value> ends(nest.getUpperBounds());
  std::optional<DeviceBound> bound = DeviceBound::match(ends.front());
  if (bound)
    ends.front() = bound->most;
  SmallVector<Value> counts = createCounts(ends);
  // Other bodies keep a thread busy with one iteration.
  bool severalEach = length == 1 && canInterleave(*nest.getBody());
  bool isShared = containsShared(nest.getOutermost());
  bool isPlane = !isShared && counts.size() > 1;
  auto getFirst = [&](ArrayRef<Value> counts) {
    return createTotal(loc, counts.drop_back(isPlane ? 1 : 0));
  };
  Value first = getFirst(counts);
  Threads threads;
  Value lanes;
  if (isShared) {
    Value longest = createLongestShared(rewriter, nest, first);
    lanes =
        longest ? createPowerOf2(loc, longest, warpSize) : index(loc, warpSize);
    threads = launchGroups(loc, first, lanes);
  } else if (isPlane) {
    threads = launchPlane(loc, first, counts.back(), severalEach);
  } else {
    threads = launchLine(loc, first, severalEach);
  }
  if (bound) {
    OpBuilder::InsertionGuard guard(rewriter);
    Region &body = threads.launch.getBody();
    rewriter.setInsertionPointToStart(&body.front());
    Value own = getFirst(createCounts(nest.getUpperBounds()));
    rewriter.replaceUsesWithIf(first, own, [&](OpOperand &use) {
      return body.isAncestor(use.getOwner()->getParentRegion());
    });
  }

  auto branch = scf::IfOp::create(rewriter, loc, threads.isInside);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  Value number = threads.numbers.front();
  scf::ForOp turns;
  if (threads.turns) {
    turns =
        scf::ForOp::create(rewriter, loc, zero, threads.turns, index(loc, 1));
    rewriter.setInsertionPointToStart(turns.getBody());
    number = createNumber(loc, turns.getInductionVar(), threads.stride, number);
  }
  // The last variable is that of neighbouring threads, which so access what
  // lies side by side.
  SmallVector<Value> places(counts.size());
  if (isPlane)
    places.back() = threads.numbers.back();
  for (size_t dim = counts.size() - (isPlane ? 1 : 0); dim-- > 0;) {
    places[dim] = number;
    if (dim != 0) {
      places[dim] = arith::RemUIOp::create(rewriter, loc, number, counts[dim]);
      number = arith::DivUIOp::create(rewriter, loc, number, counts[dim]);
    }
  }
  SmallVector<Value> values, steps(nest.getSteps());
  if (length > 1)
    steps.back() = index(loc, length);
  for (auto [place, from, by] :
       llvm::zip_equal(places, nest.getLowerBounds(), steps)) {
    Value offset = arith::MulIOp::create(rewriter, loc, place, by);
    values.push_back(arith::AddIOp::create(rewriter, loc, from, offset));
  }
  auto inlineBody = [&](Operation *loop, Block *body, Operation *before,
                        ValueRange variables) {
    if (loop == innermost && length > 1) {
      rewriter.setInsertionPoint(before);
      createVector(loc, *body, variables, length);
    } else {
      rewriter.eraseOp(body->getTerminator());
      rewriter.inlineBlockBefore(body, before, variables);
    }
    rewriter.eraseOp(loop);
  };
  Operation *end = rewriter.getInsertionBlock()->getTerminator();
  if (nest.getLoops().empty())
    inlineBody(op, &op->getRegion(0).front(), end, values);
  for (auto [loop, value] : llvm::zip(nest.getLoops(), values))
    inlineBody(loop, scf::ForOp(loop).getBody(),
               loop == op ? end : scf::ForOp(loop).getOperation(), value);
  if (turns)
    interleave(rewriter, turns);
  // Within a thread loops are loops.
  SmallVector<scf::ParallelOp> nested;
  branch.walk([&](scf::ParallelOp loop) { nested.push_back(loop); });
  for (scf::ParallelOp loop : nested)
    makeSequential(rewriter, loop);
  if (lanes)
    shareLoops(rewriter, branch.thenBlock(), threads.launch.getThreadIds().x,
               matchPattern(lanes, m_Constant())
                   ? lanes
                   : threads.launch.getBlockSize().x);
  assumeAlignment(rewriter, threads.launch, vectorBuffers);
  // A thread does what is left in the order of the program.
  dropSchedules(branch);
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

/// Has a kernel of one thread, or of the lanes of a warp, do the run. What is
/// used behind it goes through memory of the device.
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
  bool isShared = llvm::any_of(run, containsShared);
  Value one = index(loc, 1), lanes = index(loc, isShared ? warpSize : 1);
  gpu::LaunchOp launch = createLaunch(loc, one, lanes, one);
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
  // Last, since what is used in the kernel becomes what all lanes have.
  if (isShared)
    shareLoops(rewriter, &launch.getBody().front(), launch.getThreadIds().x,
               lanes);
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
    // Loops of which nothing is left.
    if (op.getNumRegions() != 0 && isOpTriviallyDead(&op)) {
      rewriter.eraseOp(&op);
      continue;
    }
    // A contraction in tiles.
    if (isa<gpu::LaunchOp>(op)) {
      if (failed(flush()))
        return failure();
      continue;
    }
    bool isOfDevice = accessesDevice(&op);
    if (std::optional<DeviceBound> bound = DeviceBound::matchRead(&op)) {
      if (failed(flush()))
        return failure();
      bounds.push_back(*bound);
      continue;
    }
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

void KernelBuilder::readBounds() {
  for (DeviceBound &bound : bounds) {
    bound.readInKernels(rewriter);
    if (!bound.bound->use_empty()) {
      loadOnHost(bound.read);
      continue;
    }
    rewriter.eraseOp(bound.bound);
    rewriter.eraseOp(bound.read);
  }
}

namespace {
struct LoopsToKernelsPass
    : sparse_autograd::impl::LoopsToKernelsBase<LoopsToKernelsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (Block &block : function.getBody()) {
      KernelBuilder kernels(function);
      if (failed(kernels.visit(block)))
        return signalPassFailure();
      kernels.readBounds();
    }
    if (failed(deferAssertions(function)))
      return signalPassFailure();
    // What is left accesses nothing of the device, such as loops of assertions.
    SmallVector<scf::ParallelOp> ofHost;
    function.walk([&](scf::ParallelOp loop) { ofHost.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ParallelOp loop : ofHost)
      makeSequential(rewriter, loop);
    // Everything is scheduled.
    dropSchedules(function);
  }
};
} // namespace
