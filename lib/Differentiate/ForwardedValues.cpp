//===- ForwardedValues.cpp - values that control flow forwards ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForwardedValues.h"

using namespace mlir;
using namespace sparse_autograd;

void sparse_autograd::forEachForwardedValue(
    RegionBranchOpInterface op,
    function_ref<void(Value source, Value target)> edge) {
  auto forward = [&](RegionBranchPoint point,
                     function_ref<OperandRange(RegionSuccessor)> operands) {
    SmallVector<RegionSuccessor> successors;
    op.getSuccessorRegions(point, successors);
    for (RegionSuccessor successor : successors)
      for (auto [source, target] :
           llvm::zip(operands(successor), successor.getSuccessorInputs()))
        edge(source, target);
  };
  forward(RegionBranchPoint::parent(), [&](RegionSuccessor successor) {
    return op.getEntrySuccessorOperands(successor);
  });
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      if (block.empty())
        continue;
      auto terminator =
          dyn_cast<RegionBranchTerminatorOpInterface>(block.back());
      if (!terminator)
        continue;
      forward(RegionBranchPoint(terminator), [&](RegionSuccessor successor) {
        return terminator.getSuccessorOperands(successor);
      });
    }
  }
}
