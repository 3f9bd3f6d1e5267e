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

void addUsers(Operation *op, llvm::DenseSet<Operation *> &users) {
  for (Operation *user : op->getUsers())
    if (Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user))
      users.insert(ancestor);
}

llvm::SetVector<Operation *>
getDependents(Operation *first, Operation *last,
              const llvm::SetVector<Operation *> &sources) {
  Block *block = first->getBlock();
  llvm::SmallVector<Operation *> reached(sources.begin(), sources.end());
  llvm::DenseSet<Operation *> seen(sources.begin(), sources.end());
  llvm::SmallVector<Operation *> found;
  while (!reached.empty())
    for (Operation *user : reached.pop_back_val()->getUsers()) {
      Operation *op = block->findAncestorOpInBlock(*user);
      if (!op || !first->isBeforeInBlock(op) ||
          (last && !op->isBeforeInBlock(last)) || !seen.insert(op).second)
        continue;
      reached.push_back(op);
      found.push_back(op);
    }
  llvm::sort(found,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return {found.begin(), found.end()};
}

} // namespace sparse_autograd
