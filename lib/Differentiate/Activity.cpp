//===- Activity.cpp - which values have derivatives -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include "ForwardedValues.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

bool ActivityAnalysis::addVaried(Value value, Value because) {
  if (!isDifferentiableType(value.getType()) || !varied.insert(value).second)
    return false;
  cause[value] = because;
  return true;
}

bool ActivityAnalysis::addUseful(Value value) {
  return isDifferentiableType(value.getType()) && useful.insert(value).second;
}

bool ActivityAnalysis::propagateForward(Operation *op) {
  bool changed = false;
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    forEachForwardedValue(branch, [&](Value source, Value target) {
      if (varied.contains(source))
        changed |= addVaried(target, source);
    });
    return changed;
  }
  for (Value value : getReadValues(op)) {
    if (!varied.contains(value))
      continue;
    for (Value result : op->getResults())
      changed |= addVaried(result, value);
    break;
  }
  return changed;
}

bool ActivityAnalysis::propagateBackward(Operation *op) {
  bool changed = false;
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    forEachForwardedValue(branch, [&](Value source, Value target) {
      if (useful.contains(target))
        changed |= addUseful(source);
    });
    return changed;
  }
  if (llvm::none_of(op->getResults(),
                    [&](Value result) { return useful.contains(result); }))
    return false;
  for (Value value : getReadValues(op))
    changed |= addUseful(value);
  return changed;
}

/// Visits the ops of `region` in order, those with known control flow before
/// and after what their regions hold, so that what goes in and what comes out
/// are seen in one sweep in either direction. The regions of an op without
/// known control flow are part of that op.
static void collectOps(Region &region, SmallVectorImpl<Operation *> &ops) {
  for (Block &block : region) {
    for (Operation &op : block) {
      ops.push_back(&op);
      if (!isa<RegionBranchOpInterface>(op) || op.getNumRegions() == 0)
        continue;
      for (Region &nested : op.getRegions())
        collectOps(nested, ops);
      ops.push_back(&op);
    }
  }
}

ActivityAnalysis::ActivityAnalysis(Region &region, ValueRange inputs,
                                   ValueRange outputs) {
  SmallVector<Operation *> ops;
  collectOps(region, ops);
  for (Operation *op : ops) {
    known.insert_range(op->getResults());
    if (isa<RegionBranchOpInterface>(op))
      for (Region &nested : op->getRegions())
        known.insert_range(nested.getArguments());
  }

  // One sweep settles straight-line code; each level of loops that carry values
  // may take another.
  for (Value input : inputs)
    addVaried(input, Value());
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *op : ops)
      changed |= propagateForward(op);
  }

  for (Value output : outputs)
    addUseful(output);
  changed = true;
  while (changed) {
    changed = false;
    for (Operation *op : llvm::reverse(ops))
      changed |= propagateBackward(op);
  }
}

SmallVector<Value> ActivityAnalysis::pathFromInput(Value value) const {
  SmallVector<Value> path;
  for (auto it = cause.find(value); it != cause.end();
       it = cause.find(it->second)) {
    path.push_back(it->first);
    if (!it->second)
      break;
  }
  return path;
}

void ActivityAnalysis::attachPath(InFlightDiagnostic &diagnostic,
                                  Value value) const {
  for (Value step : pathFromInput(value)) {
    if (Operation *definition = step.getDefiningOp())
      diagnostic.attachNote(definition->getLoc())
          << "it depends on this '" << definition->getName() << "'";
    else
      diagnostic.attachNote(step.getLoc()) << "which depends on this argument";
  }
}
