//===- KernelNest.cpp - the iterations of a kernel ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelNest.h"

#include "../KernelOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// The loop of `outer` that makes a nest with it; `first` is its outermost.
static scf::ForOp getNext(scf::ForOp first, scf::ForOp outer) {
  scf::ForOp inner;
  for (Operation &op : outer.getBody()->without_terminator()) {
    if (isParallelLoop(&op) && isa<scf::ForOp>(op) && !inner)
      inner = cast<scf::ForOp>(op);
    else if (!isa<memref::LoadOp>(op) && !isPure(&op))
      return nullptr;
  }
  if (inner && llvm::any_of(inner->getOperands(), [&](Value bound) {
        return !first.isDefinedOutsideOfLoop(bound);
      }))
    return nullptr;
  return inner;
}

KernelNest::KernelNest(Operation *outermost) : outermost(outermost) {
  if (auto parallel = dyn_cast<scf::ParallelOp>(outermost)) {
    for (auto [lower, upper, step, variable] :
         llvm::zip_equal(parallel.getLowerBound(), parallel.getUpperBound(),
                         parallel.getStep(), parallel.getInductionVars()))
      add(lower, upper, step, variable);
    return;
  }
  auto first = cast<scf::ForOp>(outermost);
  for (scf::ForOp loop = first; loop; loop = getNext(first, loop)) {
    loops.push_back(loop);
    add(loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
        loop.getInductionVar());
  }
}

void KernelNest::add(Value lower, Value upper, Value step, Value variable) {
  lowerBounds.push_back(lower);
  upperBounds.push_back(upper);
  steps.push_back(step);
  variables.push_back(variable);
}

Block *KernelNest::getBody() const {
  return loops.empty() ? cast<scf::ParallelOp>(outermost).getBody()
                       : scf::ForOp(loops.back()).getBody();
}

bool KernelNest::isOutside(Value value) const {
  return !outermost->isAncestor(value.getParentRegion()->getParentOp());
}
