//===- Dependence.cpp - who uses whom inside a block ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

using namespace mlir;

namespace sparse_autograd {

bool usesAnyOf(Operation *op, const llvm::SetVector<Operation *> &producers) {
  WalkResult result = op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        if (producers.contains(definition))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

llvm::SetVector<Operation *>
getDependents(Operation *first, Operation *last,
              const llvm::SetVector<Operation *> &sources) {
  llvm::SetVector<Operation *> reached(sources.begin(), sources.end());
  llvm::SetVector<Operation *> dependents;
  for (Operation *op = first->getNextNode(); op && op != last;
       op = op->getNextNode()) {
    if (sources.contains(op) || !usesAnyOf(op, reached))
      continue;
    reached.insert(op);
    dependents.insert(op);
  }
  return dependents;
}

} // namespace sparse_autograd
