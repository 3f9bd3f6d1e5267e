//===- RowBuffers.cpp - buffers that rows use one by one -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowBuffers.h"

#include "../Segments.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// A list that is allocated beside a loop over rows. Each loop over the entries
/// of a row accesses it at its variable alone, and all of these are over the
/// same entries: an element belongs to one row.
struct RowBuffer {
  memref::AllocOp allocation;
  /// Loads and stores within the rows, in their order.
  SmallVector<Operation *> accesses;
  /// Whether nothing but its end is outside of the rows.
  bool isLocal = true;
  memref::DeallocOp end;
};
} // namespace

/// The loop over entries, directly in `rows`, whose variable is the only index
/// of `access`; null if there is none.
static scf::ForOp getEntries(Operation *access, scf::ForOp rows) {
  ValueRange indices;
  if (auto load = dyn_cast<memref::LoadOp>(access))
    indices = load.getIndices();
  else if (auto store = dyn_cast<memref::StoreOp>(access))
    indices = store.getIndices();
  if (indices.size() != 1 ||
      !getPositions(indices.front(), rows.getInductionVar()))
    return nullptr;
  auto entries = cast<scf::ForOp>(
      cast<BlockArgument>(indices.front()).getOwner()->getParentOp());
  return entries->getParentOp() == rows ? entries : scf::ForOp();
}

/// Describes `allocation`, if its uses allow it.
static std::optional<RowBuffer> getRowBuffer(memref::AllocOp allocation,
                                             scf::ForOp rows) {
  RowBuffer buffer{allocation, {}, true, {}};
  if (allocation->getBlock() != rows->getBlock() ||
      allocation.getType().getRank() != 1)
    return std::nullopt;
  for (OpOperand &use : allocation->getUses()) {
    Operation *user = use.getOwner();
    if (rows->isProperAncestor(user)) {
      auto store = dyn_cast<memref::StoreOp>(user);
      if (store && store.getValue() == allocation.getResult())
        return std::nullopt;
      buffer.accesses.push_back(user);
      continue;
    }
    auto dealloc = dyn_cast<memref::DeallocOp>(user);
    if (dealloc && !buffer.end && user->getBlock() == rows->getBlock()) {
      buffer.end = dealloc;
      continue;
    }
    // What is there before the rows is read by them.
    Operation *ancestor = rows->getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor || ancestor->isBeforeInBlock(rows))
      return std::nullopt;
    buffer.isLocal = false;
  }
  if (buffer.accesses.empty())
    return std::nullopt;
  scf::ForOp first = getEntries(buffer.accesses.front(), rows);
  for (Operation *access : buffer.accesses) {
    scf::ForOp entries = getEntries(access, rows);
    if (!first || !entries ||
        entries.getLowerBound() != first.getLowerBound() ||
        entries.getUpperBound() != first.getUpperBound() ||
        entries.getStep() != first.getStep())
      return std::nullopt;
  }
  // Uses have no order. No access is in another one.
  llvm::sort(buffer.accesses, [&](Operation *one, Operation *other) {
    while (one->getBlock() != other->getBlock()) {
      if (Operation *ancestor = one->getBlock()->findAncestorOpInBlock(*other))
        other = ancestor;
      else
        one = one->getParentOp();
    }
    return one != other && one->isBeforeInBlock(other);
  });
  return buffer;
}

/// Erases stores after which the row reads the list no more.
static void eraseLastStores(RewriterBase &rewriter, RowBuffer &buffer) {
  while (!buffer.accesses.empty() &&
         isa<memref::StoreOp>(buffer.accesses.back()))
    rewriter.eraseOp(buffer.accesses.pop_back_val());
}

/// Whether `before` has been read, of an entry, when `after` is written there
/// for the first time.
static bool isReadBefore(const RowBuffer &before, const RowBuffer &after,
                         scf::ForOp rows) {
  Operation *last = before.accesses.back(), *first = after.accesses.front();
  if (!isa<memref::StoreOp>(first))
    return false;
  scf::ForOp lastLoop = getEntries(last, rows),
             firstLoop = getEntries(first, rows);
  if (lastLoop != firstLoop)
    return lastLoop->isBeforeInBlock(firstLoop);
  // In one iteration, in its order.
  Operation *ancestor = firstLoop.getBody()->findAncestorOpInBlock(*last);
  return first->getBlock() == firstLoop.getBody() &&
         ancestor->isBeforeInBlock(first);
}

void sparse_autograd::shareRowBuffers(RewriterBase &rewriter, scf::ForOp rows) {
  SmallVector<RowBuffer> buffers;
  for (auto allocation : rows->getBlock()->getOps<memref::AllocOp>())
    if (std::optional<RowBuffer> buffer = getRowBuffer(allocation, rows))
      buffers.push_back(std::move(*buffer));
  for (RowBuffer &buffer : buffers)
    if (buffer.isLocal)
      eraseLastStores(rewriter, buffer);
  for (RowBuffer &before : buffers) {
    if (!before.isLocal || before.accesses.empty())
      continue;
    for (RowBuffer &after : buffers) {
      if (&before == &after || after.accesses.empty() ||
          before.allocation.getType() != after.allocation.getType() ||
          before.allocation.getDynamicSizes() !=
              after.allocation.getDynamicSizes() ||
          getEntries(before.accesses.front(), rows).getUpperBound() !=
              getEntries(after.accesses.front(), rows).getUpperBound() ||
          !isReadBefore(before, after, rows))
        continue;
      remarkChosen(rows.getLoc(), rows, "buffers",
                   "a list of the entries takes the place of one that its row "
                   "has read by then");
      if (before.end)
        rewriter.eraseOp(before.end);
      rewriter.replaceAllUsesWith(before.allocation.getResult(),
                                  after.allocation.getResult());
      rewriter.eraseOp(before.allocation);
      before.accesses.append(after.accesses);
      after.accesses = std::move(before.accesses);
      before.accesses.clear();
      break;
    }
  }
}
