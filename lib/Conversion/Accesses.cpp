//===- Accesses.cpp - accesses that may be of one place -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace sparse_autograd;

/// The buffer that `memref` is a view of.
static Value getBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

/// Whether `value` is there before `op` is done, whenever that is.
static bool isThereBefore(Value value, Operation *op) {
  Operation *ancestor = value.getParentBlock()->findAncestorOpInBlock(*op);
  if (!ancestor)
    return false;
  Operation *definition = value.getDefiningOp();
  return !definition || definition->isBeforeInBlock(ancestor);
}

bool sparse_autograd::mayOverlap(AliasAnalysis &aliases, Value one,
                                 Value other) {
  one = getBuffer(one);
  other = getBuffer(other);
  if (one == other)
    return true;
  auto isFresh = [](Value buffer, Value before) {
    auto allocation = buffer.getDefiningOp<memref::AllocOp>();
    return allocation && isThereBefore(before, allocation);
  };
  return !isFresh(one, other) && !isFresh(other, one) &&
         !aliases.alias(one, other).isNo();
}

bool sparse_autograd::conflict(
    AliasAnalysis &aliases, ArrayRef<Access> some, ArrayRef<Access> others,
    llvm::function_ref<bool(const Access &, const Access &)> isApart) {
  return llvm::any_of(some, [&](const Access &one) {
    return llvm::any_of(others, [&](const Access &other) {
      return (one.isWrite || other.isWrite) &&
             mayOverlap(aliases, one.memref, other.memref) &&
             !(isApart && isApart(one, other));
    });
  });
}

bool sparse_autograd::isSideBySide(Value index, Value variable) {
  if (index == variable)
    return true;
  auto sum = index.getDefiningOp<arith::AddIOp>();
  return sum && (sum.getLhs() == variable || sum.getRhs() == variable);
}
