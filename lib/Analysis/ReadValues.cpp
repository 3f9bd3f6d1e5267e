//===- ReadValues.cpp - what an operation reads ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ReadValues.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

void sparse_autograd::forEachReadValue(Operation *op,
                                       function_ref<void(Value)> callback) {
  for (Value operand : op->getOperands())
    callback(operand);
  if (op->getNumRegions() == 0)
    return;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    callback(value);
}

llvm::SetVector<Value> sparse_autograd::getReadValues(Operation *op) {
  llvm::SetVector<Value> values;
  forEachReadValue(op, [&](Value value) { values.insert(value); });
  return values;
}
