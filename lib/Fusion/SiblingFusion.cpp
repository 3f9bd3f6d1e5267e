//===- SiblingFusion.cpp - merge independent operations -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace sparse_autograd {

/// The place of an element of `value`, a result of a generic operation, in its
/// loops; null if it is none.
static AffineMap getResultMap(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto op = value.getDefiningOp<linalg::GenericOp>();
  return op ? op.getMatchingIndexingMap(
                  op.getDpsInitOperand(result.getResultNumber()))
            : AffineMap();
}

/// Whether `a` and `b` are one tensor, or two results of an operation at the
/// same places.
static bool haveSameShape(Value a, Value b) {
  return a == b || (a.getDefiningOp() && a.getType() == b.getType() &&
                    a.getDefiningOp() == b.getDefiningOp() && getResultMap(a) &&
                    getResultMap(a) == getResultMap(b));
}

/// Whether both operations run over the same elements: the same loops, and
/// tensors of one shape that both read in the same way and that gives every
/// loop's extent.
static bool haveSameIterations(linalg::GenericOp first,
                               linalg::GenericOp second) {
  if (first.getIteratorTypesArray() != second.getIteratorTypesArray())
    return false;
  for (OpOperand *mine : first.getDpsInputOperands()) {
    AffineMap map = first.getMatchingIndexingMap(mine);
    if (!isa<RankedTensorType>(mine->get().getType()) ||
        map.getNumResults() != first.getNumLoops())
      continue;
    for (OpOperand *theirs : second.getDpsInputOperands())
      if (haveSameShape(theirs->get(), mine->get()) &&
          second.getMatchingIndexingMap(theirs) == map)
        return true;
  }
  return false;
}

/// Merges `second`, which does not depend on `first`, and `first`, at the place
/// of `second`.
static linalg::GenericOp merge(RewriterBase &rewriter, linalg::GenericOp first,
                               linalg::GenericOp second) {
  rewriter.setInsertionPoint(second);
  SmallVector<Value> inputs(first.getInputs());
  llvm::append_range(inputs, second.getInputs());
  SmallVector<Value> outputs(first.getOutputs());
  llvm::append_range(outputs, second.getOutputs());
  SmallVector<AffineMap> maps;
  for (linalg::GenericOp op : {first, second})
    for (OpOperand *operand : op.getDpsInputOperands())
      maps.push_back(op.getMatchingIndexingMap(operand));
  for (linalg::GenericOp op : {first, second})
    for (OpOperand &operand : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&operand));

  auto merged = linalg::GenericOp::create(
      rewriter, rewriter.getFusedLoc({first.getLoc(), second.getLoc()}),
      ValueRange(outputs).getTypes(), inputs, outputs, maps,
      first.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        IRMapping mapping;
        unsigned firstInputs = first.getNumDpsInputs();
        unsigned secondInputs = second.getNumDpsInputs();
        unsigned firstOutputs = first.getNumDpsInits();
        unsigned outputsBegin = firstInputs + secondInputs;
        for (auto [i, argument] :
             llvm::enumerate(first.getBody()->getArguments()))
          mapping.map(
              argument,
              arguments[i < firstInputs ? i : outputsBegin + i - firstInputs]);
        for (auto [i, argument] :
             llvm::enumerate(second.getBody()->getArguments()))
          mapping.map(argument,
                      arguments[i < secondInputs ? firstInputs + i
                                                 : outputsBegin + firstOutputs +
                                                       i - secondInputs]);
        SmallVector<Value> yielded;
        for (linalg::GenericOp op : {first, second}) {
          for (Operation &inner : op.getBody()->without_terminator())
            b.clone(inner, mapping);
          for (Value value : op.getBody()->getTerminator()->getOperands())
            yielded.push_back(mapping.lookupOrDefault(value));
        }
        linalg::YieldOp::create(b, loc, yielded);
      });
  rewriter.replaceOp(first,
                     merged->getResults().take_front(first.getNumResults()));
  rewriter.replaceOp(second,
                     merged->getResults().take_back(second.getNumResults()));
  return merged;
}

/// The generic operations after `op` in its block that read an input of it, or
/// what is computed with one.
static llvm::SmallSetVector<Operation *, 8>
getLaterReaders(linalg::GenericOp op) {
  llvm::SmallSetVector<Operation *, 8> readers;
  auto addReaders = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (isa<linalg::GenericOp>(user) && user->getBlock() == op->getBlock() &&
          op->isBeforeInBlock(user))
        readers.insert(user);
  };
  for (Value input : op.getInputs())
    if (auto producer = input.getDefiningOp<linalg::GenericOp>())
      llvm::for_each(producer.getResults(), addReaders);
    else
      addReaders(input);
  return readers;
}

/// Merges `first` into the next operation of its block over the same elements
/// that does not depend on it. Returns that and what the two have become; null
/// if there is none.
static std::pair<Operation *, linalg::GenericOp>
mergeIntoSibling(RewriterBase &rewriter, linalg::GenericOp first) {
  llvm::SmallSetVector<Operation *, 8> readers = getLaterReaders(first);
  // What uses the first has to move after the second.
  llvm::DenseSet<Operation *> dependents;
  SmallVector<Operation *> moved;
  addUsers(first, dependents);
  for (Operation *op = first->getNextNode(); !readers.empty();
       op = op->getNextNode()) {
    bool isReader = readers.remove(op);
    if (dependents.contains(op)) {
      if (moved.size() == maximalMoved || !isMemoryEffectFree(op))
        return {};
      addUsers(op, dependents);
      moved.push_back(op);
      continue;
    }
    auto second = isReader ? cast<linalg::GenericOp>(op) : nullptr;
    if (!second || !isFusible(second) || !haveSameIterations(first, second))
      continue;
    Operation *last = second;
    for (Operation *dependent : moved) {
      rewriter.moveOpAfter(dependent, last);
      last = dependent;
    }
    auto function = first->getParentOfType<func::FuncOp>();
    remark::passed(
        first.getLoc(),
        remark::RemarkOpts::name("merged")
            .category(fusionRemarkCategory)
            .function(function ? function.getSymName() : StringRef()))
        << "merged with an operation over the same elements";
    return {second, merge(rewriter, first, second)};
  }
  return {};
}

bool fuseSiblings(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<Block *> blocks;
  function.walk([&](Block *block) {
    if (!isa<linalg::LinalgOp>(block->getParentOp()))
      blocks.push_back(block);
  });
  bool changed = false;
  for (Block *block : blocks) {
    Operation *next = nullptr;
    for (Operation *op = block->empty() ? nullptr : &block->front(); op;
         op = next) {
      next = op->getNextNode();
      auto first = dyn_cast<linalg::GenericOp>(op);
      if (!first || !isFusible(first))
        continue;
      auto [second, merged] = mergeIntoSibling(rewriter, first);
      if (!second)
        continue;
      changed = true;
      // The merged operation is visited again, at the second one's place.
      if (next == second)
        next = merged;
    }
  }
  return changed;
}

} // namespace sparse_autograd
