//===- ReadValues.cpp - what an operation reads ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ReadValues.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

llvm::SetVector<Value>
sparse_autograd::getCapturedValues(MutableArrayRef<Region> regions) {
  llvm::SmallPtrSet<Region *, 8> inside;
  for (Region &region : regions) {
    inside.insert(&region);
    region.walk([&](Operation *op) {
      for (Region &nested : op->getRegions())
        inside.insert(&nested);
    });
  }
  llvm::SetVector<Value> captured;
  for (Region &region : regions)
    region.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!inside.contains(operand.getParentRegion()))
          captured.insert(operand);
    });
  return captured;
}

void sparse_autograd::forEachReadValue(Operation *op,
                                       function_ref<void(Value)> callback) {
  for (Value operand : op->getOperands())
    callback(operand);
  if (op->getNumRegions() != 0)
    llvm::for_each(getCapturedValues(op->getRegions()), callback);
}

llvm::SetVector<Value> sparse_autograd::getReadValues(Operation *op) {
  llvm::SetVector<Value> values;
  forEachReadValue(op, [&](Value value) { values.insert(value); });
  return values;
}
