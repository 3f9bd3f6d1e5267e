//===- Accesses.cpp - what loops read and write ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sparse_autograd;

Accesses sparse_autograd::getAccesses(Operation *op) {
  Accesses accesses;
  op->walk([&](Operation *nested) {
    if (auto load = dyn_cast<memref::LoadOp>(nested)) {
      accesses.push_back({nested, load.getMemref(), load.getIndices(), false});
    } else if (auto store = dyn_cast<memref::StoreOp>(nested)) {
      accesses.push_back({nested, store.getMemref(), store.getIndices(), true});
    } else if (auto copy = dyn_cast<memref::CopyOp>(nested)) {
      accesses.push_back({nested, copy.getSource(), {}, false});
      accesses.push_back({nested, copy.getTarget(), {}, true});
    }
  });
  return accesses;
}

bool sparse_autograd::conflict(
    AliasAnalysis &aliases, ArrayRef<Access> some, ArrayRef<Access> others,
    llvm::function_ref<bool(const Access &, const Access &)> isApart) {
  return llvm::any_of(some, [&](const Access &one) {
    return llvm::any_of(others, [&](const Access &other) {
      return (one.isWrite || other.isWrite) &&
             !aliases.alias(one.memref, other.memref).isNo() &&
             !(isApart && isApart(one, other));
    });
  });
}
