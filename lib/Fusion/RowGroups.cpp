//===- RowGroups.cpp - what one loop over rows can compute ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sparse_autograd {

unsigned RowGroup::getNumRowDims() const {
  return rowLoops.lookup(members.front()).size();
}

/// Whether each result of `op` is combined by one operation with a neutral
/// element, so that partial results can be made and combined.
static bool hasPartialResults(linalg::LinalgOp op) {
  for (unsigned i = 0, e = op.getNumDpsInits(); i < e; ++i) {
    SmallVector<Operation *> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), i, combiners) ||
        combiners.size() != 1 || !arith::getNeutralElement(combiners.front()))
      return false;
  }
  return true;
}

/// A result has no dimension: a reduction over every loop.
static bool isFullReduction(linalg::LinalgOp op) {
  return op.getNumReductionLoops() == op.getNumLoops();
}

/// Initial values must come from outside the group, or be filled in for one
/// operation alone.
static bool hasOwnInits(linalg::LinalgOp op,
                        const llvm::SetVector<Operation *> &members) {
  for (Value init : op.getDpsInits())
    if (Operation *definition = init.getDefiningOp())
      if (members.contains(definition))
        return false;
  return true;
}

/// The loops of `consumer` that run over the rows that `value` has, when
/// `rowDims` are the dimensions of `value` that are rows. Fails if the operand
/// is not indexed by one loop in each.
static FailureOr<SmallVector<unsigned>> followRows(linalg::LinalgOp consumer,
                                                   OpOperand &operand,
                                                   ArrayRef<unsigned> rowDims) {
  AffineMap map = consumer.getMatchingIndexingMap(&operand);
  SmallVector<unsigned> loops;
  for (unsigned dim : rowDims)
    loops.push_back(map.getDimPosition(dim));
  return loops;
}

/// The dimensions of a tensor, indexed by `map`, that `rowLoops` run over.
/// Fails if one of the loops does not index it.
static FailureOr<SmallVector<unsigned>>
getRowDims(AffineMap map, ArrayRef<unsigned> rowLoops) {
  SmallVector<unsigned> dims;
  for (unsigned loop : rowLoops) {
    std::optional<unsigned> position =
        map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
    if (!position)
      return failure();
    dims.push_back(*position);
  }
  return dims;
}

/// Whether `op` reads an element for each iteration from a tensor indexed by
/// `map`: sharing less than whole rows of elements saves nothing.
static bool readsWhole(linalg::LinalgOp op, AffineMap map) {
  return map.getNumResults() == op.getNumLoops();
}

/// Finds which loops of `op` run over the rows of `group`, from the results of
/// the group that it uses or, if it uses none, from a tensor that both read
/// whole. Fails if there is no such connection or connections disagree.
static FailureOr<SmallVector<unsigned>> connect(const RowGroup &group,
                                                linalg::LinalgOp op) {
  std::optional<SmallVector<unsigned>> loops;
  auto agree = [&](OpOperand &operand, AffineMap producerMap,
                   ArrayRef<unsigned> producerLoops) -> LogicalResult {
    FailureOr<SmallVector<unsigned>> dims =
        getRowDims(producerMap, producerLoops);
    if (failed(dims))
      return failure();
    FailureOr<SmallVector<unsigned>> found = followRows(op, operand, *dims);
    if (failed(found) || (loops && *loops != *found))
      return failure();
    loops = *found;
    return success();
  };

  for (OpOperand &operand : op->getOpOperands()) {
    auto result = dyn_cast<OpResult>(operand.get());
    if (!result || !group.members.contains(result.getOwner()))
      continue;
    // A partial result is complete only after the loop.
    if (group.partial.contains(result.getOwner()) || !op.isDpsInput(&operand))
      return failure();
    auto producer = cast<linalg::LinalgOp>(result.getOwner());
    if (failed(agree(operand, producer.getIndexingMapMatchingResult(result),
                     group.rowLoops.lookup(producer))))
      return failure();
  }
  if (loops)
    return *loops;

  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(operand->get().getType()))
      continue;
    for (Operation *member : group.members) {
      auto producer = cast<linalg::LinalgOp>(member);
      for (OpOperand *theirs : producer.getDpsInputOperands()) {
        AffineMap map = producer.getMatchingIndexingMap(theirs);
        if (theirs->get() != operand->get() || !readsWhole(producer, map))
          continue;
        if (succeeded(agree(*operand, map, group.rowLoops.lookup(member))))
          return *loops;
      }
    }
  }
  return failure();
}

/// Keeps the rows numbered `kept` only.
static void restrictRows(RowGroup &group, ArrayRef<unsigned> kept) {
  for (auto &entry : group.rowLoops) {
    SmallVector<unsigned> loops;
    for (unsigned row : kept)
      loops.push_back(entry.second[row]);
    entry.second = loops;
  }
}

/// Whether the body of `op` reads a result of `members` at places of its own,
/// and so needs all of it.
static bool readsInBody(linalg::LinalgOp op,
                        const llvm::SetVector<Operation *> &members) {
  WalkResult result = op.getBlock()->walk([&](Operation *inner) {
    return llvm::any_of(inner->getOperands(),
                        [&](Value operand) {
                          return members.contains(operand.getDefiningOp());
                        })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Adds `op` to `group` if blocks of rows can compute it.
static bool tryJoin(RowGroup &group, linalg::LinalgOp op) {
  if (!hasOwnInits(op, group.members))
    return false;
  if (readsInBody(op, group.members))
    return false;
  FailureOr<SmallVector<unsigned>> loops = connect(group, op);
  if (failed(loops))
    return false;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<unsigned> parallel;
  for (unsigned row = 0, e = loops->size(); row < e; ++row)
    if (iterators[(*loops)[row]] == utils::IteratorType::parallel)
      parallel.push_back(row);

  if (parallel.size() == loops->size()) {
    group.rowLoops[op] = *loops;
  } else if (isFullReduction(op) && hasPartialResults(op)) {
    group.rowLoops[op] = *loops;
    group.partial.insert(op);
  } else if (!group.settled && !parallel.empty()) {
    group.rowLoops[op] = *loops;
    restrictRows(group, parallel);
  } else {
    return false;
  }
  group.members.insert(op);
  group.settled |=
      op.getNumReductionLoops() != 0 && !group.partial.contains(op);
  return true;
}

RowGroup findRowGroup(linalg::LinalgOp seed,
                      const llvm::DenseSet<Operation *> &taken) {
  RowGroup group;
  if (!isFusible(seed))
    return group;
  SmallVector<unsigned> rows;
  if (isFullReduction(seed)) {
    if (!hasPartialResults(seed))
      return group;
    for (unsigned loop = 0, e = seed.getNumLoops(); loop < e; ++loop)
      rows.push_back(loop);
    group.partial.insert(seed);
  } else {
    seed.getParallelDims(rows);
    group.settled = seed.getNumReductionLoops() != 0;
  }
  group.members.insert(seed);
  group.rowLoops[seed] = rows;

  // Operations that use what depends on the group, and of these those that use
  // what is not in it, and could not move behind the loop.
  llvm::DenseSet<Operation *> dependents, behind;
  // Those that `connect` may find to run over the same rows, and the last one.
  llvm::DenseSet<Operation *> candidates;
  Operation *last = seed;
  auto addCandidates = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (isa<linalg::GenericOp>(user) &&
          user->getBlock() == seed->getBlock()) {
        candidates.insert(user);
        if (last->isBeforeInBlock(user))
          last = user;
      }
  };
  auto addMember = [&](linalg::LinalgOp member) {
    addUsers(member, dependents);
    llvm::for_each(member->getResults(), addCandidates);
    for (OpOperand *input : member.getDpsInputOperands())
      if (readsWhole(member, member.getMatchingIndexingMap(input)))
        addCandidates(input->get());
  };
  addMember(seed);
  for (Operation *op = seed->getNextNode(); op && !last->isBeforeInBlock(op);
       op = op->getNextNode()) {
    if (candidates.contains(op) && !taken.contains(op) &&
        !behind.contains(op)) {
      auto candidate = cast<linalg::GenericOp>(op);
      if (isFusible(candidate) && tryJoin(group, candidate)) {
        addMember(candidate);
        continue;
      }
    }
    if (!dependents.contains(op))
      continue;
    // Whatever follows would have to move this operation behind itself.
    if (++group.numSearched > maximalMoved || !isMemoryEffectFree(op))
      break;
    addUsers(op, dependents);
    addUsers(op, behind);
  }
  return group;
}

} // namespace sparse_autograd
