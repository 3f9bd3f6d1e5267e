//===- ProvedAssertions.cpp - use what assertions prove -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Equality propagation as in a value numbering by dominance (Click, 1995):
// each assertion is visited before what it dominates.
//
//===----------------------------------------------------------------------===//

#include "ProvedAssertions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

/// The comparison that `assertion` states, if it is one of equality.
static arith::CmpIOp getEquality(cf::AssertOp assertion) {
  auto comparison = assertion.getArg().getDefiningOp<arith::CmpIOp>();
  if (comparison && comparison.getPredicate() == arith::CmpIPredicate::eq)
    return comparison;
  return {};
}

/// Whether the condition of `assertion` is known to hold.
static bool isProved(cf::AssertOp assertion) {
  if (matchPattern(assertion.getArg(), m_One()))
    return true;
  arith::CmpIOp equality = getEquality(assertion);
  return equality && equality.getLhs() == equality.getRhs();
}

void sparse_autograd::useAssertions(Operation *root) {
  DominanceInfo dominance(root);
  root->walk<WalkOrder::PreOrder>([&](cf::AssertOp assertion) {
    if (isProved(assertion)) {
      assertion.erase();
      return WalkResult::skip();
    }
    auto isDominated = [&](OpOperand &use) {
      return dominance.properlyDominates(assertion, use.getOwner());
    };
    if (arith::CmpIOp equality = getEquality(assertion)) {
      Value known = equality.getLhs(), value = equality.getRhs();
      if (matchPattern(value, m_Constant()))
        std::swap(known, value);
      if (!matchPattern(value, m_Constant()))
        value.replaceUsesWithIf(known, isDominated);
    }
    // The same condition again.
    Value condition = assertion.getArg();
    if (llvm::any_of(condition.getUses(), isDominated)) {
      OpBuilder builder(assertion->getContext());
      builder.setInsertionPointAfter(assertion);
      condition.replaceUsesWithIf(
          arith::ConstantOp::create(builder, assertion.getLoc(),
                                    builder.getBoolAttr(true)),
          isDominated);
    }
    return WalkResult::advance();
  });
}
