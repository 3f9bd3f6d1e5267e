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

/// Whether both operations run over the same elements: the same loops, and one
/// tensor that both read in the same way and whose shape gives every loop's
/// extent.
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
      if (theirs->get() == mine->get() &&
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

/// Tries to merge `first` into `second`, an operation after it in its block.
static linalg::GenericOp tryMerge(RewriterBase &rewriter,
                                  linalg::GenericOp first,
                                  linalg::GenericOp second) {
  if (!isFusible(second) || !haveSameIterations(first, second))
    return nullptr;
  llvm::SetVector<Operation *> sources;
  sources.insert(first);
  llvm::SetVector<Operation *> dependents =
      getDependents(first, second, sources);
  // What uses the first has to move behind the second.
  for (Operation *op : dependents) {
    sources.insert(op);
    if (!isMemoryEffectFree(op))
      return nullptr;
  }
  if (usesAnyOf(second, sources))
    return nullptr;
  Operation *last = second;
  for (Operation *op : dependents) {
    rewriter.moveOpAfter(op, last);
    last = op;
  }
  auto function = first->getParentOfType<func::FuncOp>();
  remark::passed(first.getLoc(),
                 remark::RemarkOpts::name("merged")
                     .category(fusionRemarkCategory)
                     .function(function ? function.getSymName() : StringRef()))
      << "merged with an operation over the same elements";
  return merge(rewriter, first, second);
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
      for (Operation *other = next; other; other = other->getNextNode()) {
        auto second = dyn_cast<linalg::GenericOp>(other);
        if (!second)
          continue;
        // The merged operation is visited again, at the second one's place.
        if (next == other)
          next = nullptr;
        if (linalg::GenericOp merged = tryMerge(rewriter, first, second)) {
          if (!next)
            next = merged;
          changed = true;
          break;
        }
        if (!next)
          next = other;
      }
    }
  }
  return changed;
}

} // namespace sparse_autograd
