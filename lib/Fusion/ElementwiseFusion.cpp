//===- ElementwiseFusion.cpp - compute producers inside consumers ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/ComparedValues.h"
#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace sparse_autograd {

static remark::RemarkOpts remarkOptions(StringRef name, Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return remark::RemarkOpts::name(name)
      .category(fusionRemarkCategory)
      .function(function ? function.getSymName() : StringRef());
}

void generalizeNamedOps(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op) && isFusible(op) &&
        !matchContraction(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    // An operation without a general form stays named, and is not fused.
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// Whether the loops of the consumer that `use` does not depend on would repeat
/// the body of its producer for nothing.
static bool repeatsAcrossLoops(linalg::GenericOp consumer, OpOperand &use) {
  return consumer.getMatchingIndexingMap(&use).getNumResults() <
         consumer.getNumLoops();
}

namespace {

/// What the bodies of operations say, each walked once. An operation that is
/// erased or changed has to be forgotten.
class Bodies {
public:
  bool isFusible(linalg::GenericOp op) { return get(op).fusible; }
  int64_t getCost(linalg::GenericOp op) { return get(op).cost; }
  void forget(Operation *op) { known.erase(op); }

private:
  struct Body {
    bool fusible;
    int64_t cost;
  };

  const Body &get(linalg::GenericOp op) {
    auto [entry, isNew] = known.try_emplace(op);
    if (isNew)
      entry->second = {sparse_autograd::isFusible(op), getBodyCost(op)};
    return entry->second;
  }

  llvm::DenseMap<Operation *, Body> known;
};

} // namespace

/// Whether the producer of `use` can be computed in its consumer. The reason
/// why not, if it cannot, is what a remark tells.
static bool canFuse(Bodies &bodies, OpOperand &use, StringRef &reason) {
  auto producer = use.get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (auto any = dyn_cast<linalg::LinalgOp>(use.getOwner());
      any && !(consumer && bodies.isFusible(consumer)) &&
      isMatrixProduct(any)) {
    reason = "it is used by a matrix product, which a library computes";
    return false;
  }
  if (!producer || !consumer) {
    reason = "it is used by an operation that is not elementwise";
    return false;
  }
  if (producer->getBlock() != consumer->getBlock()) {
    reason = "it is used in another block, where it could run more often";
    return false;
  }
  if (!bodies.isFusible(producer) || !bodies.isFusible(consumer) ||
      !consumer.isDpsInput(&use) || !linalg::areElementwiseOpsFusable(&use)) {
    reason = "its result is not read element by element";
    return false;
  }
  if (bodies.getCost(producer) > 0 && repeatsAcrossLoops(consumer, use)) {
    reason = "its consumer broadcasts it, and would compute it again for every "
             "element";
    return false;
  }
  return true;
}

/// The operations that use a result of `op`, each once.
static llvm::SetVector<Operation *> getConsumers(Operation *op) {
  return {op->user_begin(), op->user_end()};
}

/// The number of tensors that `op` reads an element of in every iteration: what
/// repeating it reads, where its result would be one read.
static unsigned countFullReads(linalg::GenericOp op) {
  unsigned count = 0;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isa<RankedTensorType>(operand->get().getType()) &&
        op.getMatchingIndexingMap(operand).getNumResults() == op.getNumLoops())
      ++count;
  return count;
}

namespace {

/// What to do with a producer at one of its uses.
enum class Decision { Fuse, Repeat, Keep };

} // namespace

/// A use of `producer` by one of `consumers` at which it cannot be computed in
/// the consumer: the first in their order.
static OpOperand *findStoredUse(Bodies &bodies, linalg::GenericOp producer,
                                const llvm::SetVector<Operation *> &consumers,
                                StringRef &obstacle) {
  llvm::SmallDenseMap<Operation *, SmallVector<OpOperand *, 2>> usesOf;
  for (OpOperand &use : producer->getUses())
    usesOf[use.getOwner()].push_back(&use);
  for (Operation *consumer : consumers) {
    SmallVector<OpOperand *, 2> &uses = usesOf.find(consumer)->second;
    llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
      return a->getOperandNumber() < b->getOperandNumber();
    });
    for (OpOperand *use : uses)
      if (!canFuse(bodies, *use, obstacle))
        return use;
  }
  return nullptr;
}

static Decision decide(Bodies &bodies, const ComparedValues &compared,
                       OpOperand &use, int64_t recomputeLimit,
                       llvm::function_ref<bool(linalg::GenericOp)> mayRepeat,
                       std::string &reason) {
  StringRef obstacle;
  if (!canFuse(bodies, use, obstacle))
    return Decision::Keep;
  auto producer = use.get().getDefiningOp<linalg::GenericOp>();
  llvm::SetVector<Operation *> consumers = getConsumers(producer);
  if (consumers.size() == 1)
    return Decision::Fuse;
  if (compared.isOnce(producer)) {
    reason = "it is compared for equality, and would round differently in "
             "another loop";
    return Decision::Keep;
  }

  // Moving data is free to repeat: what a broadcast reads is in a cache.
  int64_t cost = bodies.getCost(producer);
  unsigned reads = countFullReads(producer);
  if ((cost == 0 || reads == 0) && cost <= recomputeLimit)
    return Decision::Repeat;

  // A result that has to exist anyway is one tensor to read.
  if (findStoredUse(bodies, producer, consumers, obstacle)) {
    if (reads <= 1 && cost <= 4)
      return Decision::Repeat;
    reason = ("its result is stored anyway: " + obstacle).str();
    return Decision::Keep;
  }
  if (cost > recomputeLimit) {
    reason = llvm::formatv("its body costs {0}, more than {1}, for each of {2} "
                           "consumers",
                           cost, recomputeLimit, consumers.size());
    return Decision::Keep;
  }
  if (mayRepeat && !mayRepeat(producer)) {
    reason = "its consumers read it from the same block of rows";
    return Decision::Keep;
  }
  return Decision::Repeat;
}

/// Computes the producer of `use` inside its consumer. Returns the fused
/// operation, which has replaced the consumer, or null.
static linalg::GenericOp fuse(RewriterBase &rewriter, OpOperand &use,
                              bool repeat) {
  auto consumer = cast<linalg::GenericOp>(use.getOwner());
  auto producer = use.get().getDefiningOp<linalg::GenericOp>();
  unsigned resultNumber = cast<OpResult>(use.get()).getResultNumber();
  // Fusing keeps results with other uses alive, as results of the consumer: a
  // copy of the producer has none.
  Operation *copy = nullptr;
  if (repeat) {
    rewriter.setInsertionPoint(consumer);
    copy = rewriter.clone(*producer);
    rewriter.modifyOpInPlace(consumer,
                             [&] { use.set(copy->getResult(resultNumber)); });
  }
  rewriter.setInsertionPoint(consumer);
  FailureOr<linalg::ElementwiseOpFusionResult> fused =
      linalg::fuseElementwiseOps(rewriter, &use);
  if (failed(fused)) {
    if (copy) {
      rewriter.modifyOpInPlace(
          consumer, [&] { use.set(producer->getResult(resultNumber)); });
      rewriter.eraseOp(copy);
    }
    return nullptr;
  }
  SmallVector<Value> replacements;
  for (Value result : consumer->getResults())
    replacements.push_back(fused->replacements.lookup(result));
  rewriter.replaceOp(consumer, replacements);
  if (copy)
    rewriter.eraseOp(copy);
  if (producer->use_empty())
    rewriter.eraseOp(producer);
  auto result = dyn_cast<linalg::GenericOp>(fused->fusedOp);
  if (!result)
    return nullptr;
  // What is read twice would have its producer computed here twice, the
  // producers of that four times, and so on.
  rewriter.setInsertionPoint(result);
  FailureOr<linalg::GenericOp> merged =
      linalg::deduplicateOperandsAndRemoveDeadResults(rewriter, result,
                                                      /*removeOutputs=*/false);
  return succeeded(merged) ? *merged : result;
}

/// The producers of the operands of `op`.
static SmallVector<Operation *> getProducers(Operation *op) {
  SmallVector<Operation *> producers;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      producers.push_back(producer);
  return producers;
}

bool fuseElementwiseProducers(
    func::FuncOp function, int64_t recomputeLimit,
    llvm::function_ref<bool(linalg::GenericOp)> mayRepeat) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::GenericOp> consumers;
  function.walk([&](linalg::GenericOp op) { consumers.push_back(op); });

  Bodies bodies;
  ComparedValues compared(&function.getBody());
  bool changed = false;
  // Producers come before their consumers, so each is complete when it moves.
  for (linalg::GenericOp consumer : consumers) {
    // What stays out of this consumer, until its own consumers change.
    llvm::DenseSet<Operation *> kept;
    for (bool again = true; again;) {
      again = false;
      for (OpOperand &use : consumer->getOpOperands()) {
        auto producer = use.get().getDefiningOp<linalg::GenericOp>();
        if (!producer || producer == consumer || kept.contains(producer))
          continue;
        std::string reason;
        Location producerLoc = producer.getLoc();
        Decision decision =
            decide(bodies, compared, use, recomputeLimit, mayRepeat, reason);
        if (decision == Decision::Keep) {
          // Without a reason it is about this use alone.
          if (!reason.empty()) {
            remark::missed(producerLoc, remarkOptions("kept", producer))
                << reason;
            kept.insert(producer);
          }
          continue;
        }
        int64_t cost = bodies.getCost(producer);
        SmallVector<Operation *> read = getProducers(producer);
        Operation *before = consumer;
        bool isCompared =
            compared.contains(producer) || compared.contains(consumer);
        linalg::GenericOp fused =
            fuse(rewriter, use, decision == Decision::Repeat);
        if (!fused)
          continue;
        bodies.forget(before);
        bodies.forget(fused);
        compared.forget(before);
        if (decision == Decision::Fuse) {
          bodies.forget(producer);
          compared.forget(producer);
        }
        if (isCompared)
          compared.insert(fused);
        // `mayRepeat` knows nothing of the fused operation, and what the
        // producer read has other consumers now.
        if (mayRepeat)
          kept.clear();
        for (Operation *op : read)
          kept.erase(op);
        if (decision == Decision::Repeat)
          remark::passed(producerLoc, remarkOptions("recomputed", fused))
              << "computed again in a consumer, at a cost of "
              << remark::metric("Cost", cost);
        else
          remark::passed(producerLoc, remarkOptions("fused", fused))
              << "computed in its only consumer";
        consumer = fused;
        changed = again = true;
        break;
      }
    }
  }
  return changed;
}

/// The first operation that uses `producer`, if it can compute its result on
/// the way: an operation over the same elements, with rows of its own.
static OpOperand *getFirstUse(linalg::GenericOp producer) {
  if (producer.getNumResults() != 1)
    return nullptr;
  OpOperand *first = nullptr;
  for (OpOperand &use : producer.getResult(0).getUses()) {
    Operation *ancestor =
        producer->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (!first || ancestor->isBeforeInBlock(first->getOwner())) {
      if (ancestor != use.getOwner())
        return nullptr;
      first = &use;
    } else if (ancestor == first->getOwner()) {
      // Read in two ways, or in a region.
      return nullptr;
    }
  }
  StringRef obstacle;
  Bodies bodies;
  if (!first || !canFuse(bodies, *first, obstacle))
    return nullptr;
  auto consumer = cast<linalg::GenericOp>(first->getOwner());
  if (!consumer.getMatchingIndexingMap(first).isPermutation() ||
      consumer.getNumParallelLoops() == 0)
    return nullptr;
  return first;
}

bool fuseIntoFirstConsumers(
    func::FuncOp function,
    llvm::function_ref<bool(linalg::GenericOp, linalg::GenericOp)> mayFuse) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::GenericOp> producers;
  function.walk([&](linalg::GenericOp op) { producers.push_back(op); });
  bool changed = false;
  llvm::DenseSet<Operation *> gone;
  for (linalg::GenericOp producer : producers) {
    if (gone.contains(producer))
      continue;
    OpOperand *use = getFirstUse(producer);
    if (!use || !mayFuse(producer, cast<linalg::GenericOp>(use->getOwner())))
      continue;
    auto consumer = cast<linalg::GenericOp>(use->getOwner());
    rewriter.setInsertionPoint(consumer);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, use);
    if (failed(fused))
      continue;
    remark::passed(producer.getLoc(), remarkOptions("joined", producer))
        << "computed by the first of its consumers, which keeps it for others";
    for (auto [value, replacement] : fused->replacements)
      rewriter.replaceAllUsesExcept(value, replacement, fused->fusedOp);
    gone.insert(consumer);
    rewriter.eraseOp(consumer);
    rewriter.eraseOp(producer);
    changed = true;
  }
  return changed;
}

} // namespace sparse_autograd
