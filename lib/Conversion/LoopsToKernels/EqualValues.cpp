//===- EqualValues.cpp - values that assertions say are equal -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EqualValues.h"

#include "../KernelOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace sparse_autograd;

EqualValues::EqualValues(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // What a kernel finds out is known too late.
    if (isParallelLoop(op))
      return WalkResult::skip();
    auto assertion = dyn_cast<cf::AssertOp>(op);
    auto compare = assertion ? assertion.getArg().getDefiningOp<arith::CmpIOp>()
                             : arith::CmpIOp();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
      return WalkResult::advance();
    Value lhs = compare.getLhs(), rhs = compare.getRhs();
    equalities[lhs].push_back({rhs, assertion});
    equalities[rhs].push_back({lhs, assertion});
    return WalkResult::advance();
  });
}

bool EqualValues::areEqual(Value one, Value other, Operation *op,
                           const DominanceInfo &dominance) const {
  llvm::SmallSetVector<Value, 4> equal;
  equal.insert(one);
  for (unsigned next = 0; next < equal.size(); ++next) {
    if (equal[next] == other)
      return true;
    auto found = equalities.find(equal[next]);
    if (found == equalities.end())
      continue;
    for (const Equality &equality : found->second)
      if (dominance.properlyDominates(equality.assertion, op))
        equal.insert(equality.other);
  }
  return false;
}
