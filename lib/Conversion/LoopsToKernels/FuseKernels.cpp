//===- FuseKernels.cpp - parallel loops over the same rows as one ---------===//
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
#include "../Segments.h"
#include "EntryLoops.h"
#include "EqualValues.h"
#include "ForwardStores.h"
#include "FuseKernels.h"
#include "KernelNest.h"
#include "RowBuffers.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_FUSEKERNELS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static bool isSameRange(scf::ForOp one, scf::ForOp other) {
  return one.getLowerBound() == other.getLowerBound() &&
         one.getUpperBound() == other.getUpperBound() &&
         one.getStep() == other.getStep();
}

/// An `scf.parallel` as parallel loops within one another; any other loop as it
/// is.
static scf::ForOp splitDimensions(RewriterBase &rewriter, Operation *loop) {
  auto parallel = dyn_cast<scf::ParallelOp>(loop);
  if (!parallel)
    return cast<scf::ForOp>(loop);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(parallel);
  SmallVector<Value> variables;
  scf::ForOp outer;
  for (auto [lower, upper, step] :
       llvm::zip_equal(parallel.getLowerBound(), parallel.getUpperBound(),
                       parallel.getStep())) {
    auto next =
        scf::ForOp::create(rewriter, parallel.getLoc(), lower, upper, step);
    setParallel(next);
    if (!outer)
      outer = next;
    variables.push_back(next.getInductionVar());
    rewriter.setInsertionPointToStart(next.getBody());
  }
  Block *body = parallel.getBody();
  Operation *end = rewriter.getInsertionBlock()->getTerminator();
  rewriter.eraseOp(body->getTerminator());
  rewriter.inlineBlockBefore(body, end, variables);
  rewriter.eraseOp(parallel);
  return outer;
}

/// Has the iterations of `second` do those of `first` before.
static void merge(RewriterBase &rewriter, scf::ForOp first, scf::ForOp second) {
  Block *body = first.getBody();
  rewriter.eraseOp(body->getTerminator());
  rewriter.inlineBlockBefore(body, &second.getBody()->front(),
                             second.getInductionVar());
  rewriter.eraseOp(first);
}

//===----------------------------------------------------------------------===//
// What iterations of two loops touch
//===----------------------------------------------------------------------===//

/// Whether, of two accesses in the iterations of two loops, those of different
/// iterations are of different elements: an index of both is the variable, or
/// runs over the segment of one list that belongs to it. Positions ascend.
static bool isOfOneIteration(const Access &one, Value oneVariable,
                             const Access &other, Value otherVariable) {
  if (one.memref != other.memref || one.indices.size() != other.indices.size())
    return false;
  size_t numScalar =
      one.indices.size() - std::max(one.numVectorDims, other.numVectorDims);
  for (auto [i, j] : llvm::zip_equal(one.indices.take_front(numScalar),
                                     other.indices.take_front(numScalar))) {
    if (i == oneVariable && j == otherVariable)
      return true;
    Value list = getPositions(i, oneVariable);
    if (list && list == getPositions(j, otherVariable))
      return true;
  }
  return false;
}

/// Whether what `op` and the ops in it access is known: no function is called.
static bool hasKnownAccesses(Operation *op) {
  return !op->walk([](Operation *nested) -> WalkResult {
              return success(
                  isPure(nested) || nested->getNumRegions() != 0 ||
                  nested->hasTrait<OpTrait::IsTerminator>() ||
                  isa<memref::AllocOp, memref::LoadOp, memref::StoreOp,
                      memref::CopyOp, vector::TransferReadOp,
                      vector::TransferWriteOp, cf::AssertOp, InnerProductOp>(
                      nested));
            }).wasInterrupted();
}

/// Whether both loops access an element of one buffer.
static bool shareBuffer(ArrayRef<Access> first, ArrayRef<Access> second) {
  return llvm::any_of(first, [&](const Access &one) {
    return llvm::any_of(second, [&](const Access &other) {
      return one.memref == other.memref;
    });
  });
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

namespace {
class KernelFusion {
public:
  KernelFusion(RewriterBase &rewriter, func::FuncOp function, RowFusion rows)
      : rewriter(rewriter), aliases(function), dominance(function),
        equal(function), rows(rows) {}

  void visit(Block &block);

private:
  bool mayFuse(Operation *loop) const;
  bool isSlower(const KernelNest &first, const KernelNest &second,
                unsigned depth) const;
  bool isApart(ArrayRef<Access> first, Value firstVariable,
               ArrayRef<Access> second, Value secondVariable);
  unsigned getDepth(const KernelNest &first, ArrayRef<Access> firstAccesses,
                    const KernelNest &second, ArrayRef<Access> secondAccesses);
  bool canDelay(Operation *first, ArrayRef<Access> accesses, Operation *second,
                SmallVectorImpl<Operation *> &moved);
  bool canAdvance(Operation *first, Operation *second,
                  ArrayRef<Access> accesses,
                  llvm::SetVector<Operation *> &moved);
  scf::ForOp fuse(Operation *first, Operation *second, unsigned depth);
  scf::ForOp fuse(Operation *first, Operation *second);
  scf::ForOp fuseByRows(Operation *first, Operation *second);
  void fuseWithBefore(Operation *second);
  bool fuseWithin(Block &block);

  RewriterBase &rewriter;
  AliasAnalysis aliases;
  DominanceInfo dominance;
  EqualValues equal;
  RowFusion rows;
  /// Loops that several have become.
  llvm::SmallSetVector<Operation *, 8> fused;
};
} // namespace

/// Whether iterations of two loops that conflict are the same ones.
bool KernelFusion::isApart(ArrayRef<Access> first, Value firstVariable,
                           ArrayRef<Access> second, Value secondVariable) {
  return !conflict(
      aliases, first, second, [&](const Access &one, const Access &other) {
        return isOfOneIteration(one, firstVariable, other, secondVariable);
      });
}

/// Whether a nest is a contraction that tiles compute.
static bool hasInnerProduct(const KernelNest &nest) {
  return !nest.getBody()->getOps<InnerProductOp>().empty();
}

/// Whether one is a contraction, which tiles compute with what is done with
/// each element of it, and the other one is more than that.
static bool spoilsContraction(const KernelNest &contraction,
                              const KernelNest &other) {
  return hasInnerProduct(contraction) &&
         (hasInnerProduct(other) ||
          other.getVariables().size() != contraction.getVariables().size() ||
          !other.getBody()->getOps<scf::ForOp>().empty());
}

/// Whether rows that were computed one by one would be fewer than there are
/// threads, or take the sums of a dense product apart.
static bool needsAllThreads(const KernelNest &nest) {
  if (nest.getVariables().size() < 2)
    return false;
  constexpr int64_t few = genericGPU.getBusyWarps();
  APInt rows;
  if (matchPattern(nest.getUpperBounds().front(), m_ConstantInt(&rows)) &&
      rows.getSExtValue() < few)
    return true;
  if (hasInnerProduct(nest))
    return true;
  return nest.getBody()
      ->walk([&](scf::ForOp inner) {
        return nest.isOutside(inner.getLowerBound()) &&
                       nest.isOutside(inner.getUpperBound())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a row that is computed as a whole has threads enough: each of its
/// loops is one that lanes can share.
static bool hasLoopsForLanes(const KernelNest &nest) {
  return llvm::all_of(nest.getBody()->getOps<scf::ForOp>(), isReorderable);
}

/// Whether one computes entries, which are cut into chunks, and the other one
/// needs whole rows.
static bool spoilsChunks(const KernelNest &entries, const KernelNest &other) {
  return computesEntries(entries) && carriesInRows(other);
}

/// Whether a loop within those of the nest is over the entries of a row of it.
static bool visitsEntries(const KernelNest &nest) {
  return nest.getBody()
      ->walk([&](scf::ForOp inner) {
        bool isOverEntries =
            llvm::any_of(nest.getVariables(), [&](Value variable) {
              return getPositions(inner.getInductionVar(), variable);
            });
        return isOverEntries ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `loop` is one that is fused with others. On the CPU a loop over
/// chunks has been scheduled, and a loop may call the runtime.
bool KernelFusion::mayFuse(Operation *loop) const {
  return isParallelLoop(loop) &&
         (rows != RowFusion::OfEntries ||
          (isa<scf::ForOp>(loop) && hasKnownAccesses(loop)));
}

/// Whether one loop nest is slower than two of which `depth` loops are the
/// same ones.
bool KernelFusion::isSlower(const KernelNest &first, const KernelNest &second,
                            unsigned depth) const {
  if (rows == RowFusion::OfEntries)
    return !visitsEntries(first) && !visitsEntries(second);
  size_t ranks[] = {first.getVariables().size(), second.getVariables().size()};
  return llvm::any_of(ArrayRef({&first, &second}), [&](const KernelNest *nest) {
    return nest->getVariables().size() > depth
               ? needsAllThreads(*nest)
               : ranks[0] != ranks[1] && !hasLoopsForLanes(*nest);
  });
}

/// How many of the outermost loops of both may be the same ones; 0 if none, or
/// if that would be slower.
unsigned KernelFusion::getDepth(const KernelNest &first,
                                ArrayRef<Access> firstAccesses,
                                const KernelNest &second,
                                ArrayRef<Access> secondAccesses) {
  // More does not fit the registers of a thread.
  constexpr size_t mostAccesses = 64;
  if (firstAccesses.size() + secondAccesses.size() > mostAccesses ||
      !shareBuffer(firstAccesses, secondAccesses) ||
      spoilsContraction(first, second) || spoilsContraction(second, first) ||
      (rows == RowFusion::OfChunks &&
       (spoilsChunks(first, second) || spoilsChunks(second, first))))
    return 0;
  // The CPU has threads for one loop.
  size_t most =
      rows == RowFusion::OfEntries
          ? 1
          : std::min(first.getVariables().size(), second.getVariables().size());
  auto areEqual = [&](Value one, Value other) {
    return equal.areEqual(one, other, second.getOutermost(), dominance);
  };
  unsigned depth = 0;
  while (
      depth < most &&
      areEqual(first.getLowerBounds()[depth], second.getLowerBounds()[depth]) &&
      areEqual(first.getUpperBounds()[depth], second.getUpperBounds()[depth]) &&
      first.getSteps()[depth] == second.getSteps()[depth] &&
      isApart(firstAccesses, first.getVariables()[depth], secondAccesses,
              second.getVariables()[depth]))
    ++depth;
  return isSlower(first, second, depth) ? 0 : depth;
}

/// Whether `first` may as well be done right before `second`. Deallocations in
/// between that come too early then are added to `moved`.
bool KernelFusion::canDelay(Operation *first, ArrayRef<Access> accesses,
                            Operation *second,
                            SmallVectorImpl<Operation *> &moved) {
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode()) {
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
      if (llvm::any_of(accesses, [&](const Access &access) {
            return mayOverlap(aliases, access.memref, dealloc.getMemref());
          }))
        moved.push_back(op);
      continue;
    }
    if (!hasKnownAccesses(op) || conflict(aliases, accesses, getAccesses(op)))
      return false;
  }
  return true;
}

/// Whether `second` may as well be done right behind `first`. What it is
/// computed of and takes in between, and what is asserted of that, is added to
/// `moved`, in its order.
bool KernelFusion::canAdvance(Operation *first, Operation *second,
                              ArrayRef<Access> accesses,
                              llvm::SetVector<Operation *> &moved) {
  BackwardSliceOptions options;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *op) {
    return op->getBlock() == second->getBlock() && first->isBeforeInBlock(op);
  };
  SmallVector<Operation *> between;
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode())
    between.push_back(op);
  for (Operation *op : between)
    if (isa<cf::AssertOp>(op)) {
      if (failed(getBackwardSlice(op, &moved, options)))
        return false;
      moved.insert(op);
    }
  if (failed(getBackwardSlice(second, &moved, options)))
    return false;
  return llvm::all_of(between, [&](Operation *op) {
    if (isPure(op) || isa<memref::AllocOp, cf::AssertOp>(op))
      return true;
    return !moved.contains(op) &&
           (isa<memref::DeallocOp>(op) ||
            (isParallelLoop(op) &&
             !conflict(aliases, accesses, getAccesses(op))));
  });
}

scf::ForOp KernelFusion::fuse(Operation *first, Operation *second,
                              unsigned depth) {
  fused.remove(first);
  fused.remove(second);
  scf::ForOp from = splitDimensions(rewriter, first);
  scf::ForOp into = splitDimensions(rewriter, second);
  fused.insert(into);
  scf::ForOp outermost = into;
  while (true) {
    // The next loops, before there are two of them in one.
    auto getNext = [](scf::ForOp loop) {
      return *loop.getBody()->getOps<scf::ForOp>().begin();
    };
    scf::ForOp nextFrom, nextInto;
    if (depth > 1) {
      nextFrom = getNext(from);
      nextInto = getNext(into);
    }
    merge(rewriter, from, into);
    if (--depth == 0)
      return outermost;
    from = nextFrom;
    into = nextInto;
  }
}

/// Fuses two loops, if that is legal; else returns null.
scf::ForOp KernelFusion::fuse(Operation *first, Operation *second) {
  Accesses accesses = getAccesses(first);
  unsigned depth = getDepth(KernelNest(first), accesses, KernelNest(second),
                            getAccesses(second));
  if (depth == 0)
    return nullptr;
  SmallVector<Operation *> delayed;
  if (canDelay(first, accesses, second, delayed)) {
    for (Operation *op : llvm::reverse(delayed))
      rewriter.moveOpAfter(op, second);
    return fuse(first, second, depth);
  }
  // A product with a softmax, behind a copy of that in another order.
  llvm::SetVector<Operation *> advanced;
  if (rows == RowFusion::OfChunks ||
      !canAdvance(first, second, getAccesses(second), advanced))
    return nullptr;
  for (Operation *op : advanced)
    rewriter.moveOpBefore(op, first);
  rewriter.moveOpAfter(second, first);
  return fuse(first, second, depth);
}

/// Fuses two loops of which one is over the entries of the rows of the other;
/// returns null if they are none such.
scf::ForOp KernelFusion::fuseByRows(Operation *first, Operation *second) {
  KernelNest nests[] = {KernelNest(first), KernelNest(second)};
  for (int flat : {0, 1}) {
    const KernelNest &byRow = nests[1 - flat];
    scf::ForOp entries = getEntriesOfFlat(nests[flat], byRow, equal, dominance);
    SmallVector<Operation *> moved;
    if (!entries || !canDelay(first, getAccesses(first), second, moved))
      continue;
    rewriter.setInsertionPoint(second);
    Operation *byRows = createRowsOfFlat(rewriter, nests[flat], byRow, entries);
    Operation *operands[] = {first, second};
    std::swap(operands[flat], byRows);
    unsigned depth =
        getDepth(KernelNest(operands[0]), getAccesses(operands[0]),
                 KernelNest(operands[1]), getAccesses(operands[1]));
    // Either what was before or the copy is of no use now.
    if (depth == 0) {
      rewriter.eraseOp(operands[flat]);
      continue;
    }
    for (Operation *op : llvm::reverse(moved))
      rewriter.moveOpAfter(op, second);
    fused.remove(byRows);
    rewriter.eraseOp(byRows);
    return fuse(operands[0], operands[1], depth);
  }
  return nullptr;
}

/// Fuses `second` with parallel loops before it in its block, as far as that is
/// legal.
void KernelFusion::fuseWithBefore(Operation *second) {
  // Programs may have thousands of loops; those that share something are close.
  constexpr unsigned farthest = 64;
  unsigned distance = 0;
  Operation *first = second->getPrevNode();
  while (first && distance++ < farthest) {
    Operation *before = first->getPrevNode();
    if (mayFuse(first)) {
      scf::ForOp both = fuse(first, second);
      if (!both)
        both = fuseByRows(first, second);
      if (both)
        second = both;
    }
    first = before;
  }
}

/// Fuses two loops of a row, the first of which carries nothing. Returns
/// whether there were two.
bool KernelFusion::fuseWithin(Block &block) {
  for (auto second : block.getOps<scf::ForOp>()) {
    for (Operation *op = second->getPrevNode(); op; op = op->getPrevNode()) {
      auto first = dyn_cast<scf::ForOp>(op);
      if (!first || first->getNumResults() != 0 ||
          !isSameRange(first, second) || !isReorderable(first) ||
          !isReorderable(second))
        continue;
      Accesses accesses = getAccesses(first), others = getAccesses(second);
      SmallVector<Operation *> moved;
      if (shareBuffer(accesses, others) &&
          isApart(accesses, first.getInductionVar(), others,
                  second.getInductionVar()) &&
          canDelay(first, accesses, second, moved) && moved.empty()) {
        merge(rewriter, first, second);
        setParallel(second);
        return true;
      }
    }
  }
  return false;
}

void KernelFusion::visit(Block &block) {
  SmallVector<Operation *> loops;
  for (Operation &op : block) {
    if (mayFuse(&op))
      loops.push_back(&op);
    else
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          visit(nested);
  }
  fused.clear();
  for (Operation *loop : loops)
    fuseWithBefore(loop);
  for (Operation *loop : fused) {
    auto row = cast<scf::ForOp>(loop);
    Block *body = KernelNest(row).getBody();
    do {
      // Twice: places that turn out to be the same ones, such as those of the
      // positions of a row, are forwarded then.
      for (int round = 0; round < 2; ++round) {
        forwardStores(rewriter, *row.getBody());
        eliminateCommonSubExpressions(rewriter, dominance, row);
      }
    } while (fuseWithin(*body));
    // On a device the lanes of a warp share the entries of a row.
    if (rows == RowFusion::OfEntries)
      shareRowBuffers(rewriter, row);
  }
}

void sparse_autograd::fuseParallelLoops(RewriterBase &rewriter,
                                        func::FuncOp function, Block &block,
                                        RowFusion rows) {
  KernelFusion(rewriter, function, rows).visit(block);
}

namespace {
struct FuseKernelsPass
    : sparse_autograd::impl::FuseKernelsBase<FuseKernelsPass> {
  using FuseKernelsBase::FuseKernelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    IRRewriter rewriter(&getContext());
    RowFusion rows = forHost     ? RowFusion::OfEntries
                     : wholeRows ? RowFusion::Whole
                                 : RowFusion::OfChunks;
    KernelFusion fusion(rewriter, function, rows);
    for (Block &block : function.getBody())
      fusion.visit(block);
    eraseUnreadBuffers(rewriter, function);
  }
};
} // namespace
