//===- ImpliedPatterns.cpp - selections that change nothing ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImpliedPatterns.h"
#include "SparseAutograd/Analysis/ScalarTerms.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether `op` computes something only where `operand` stores an element.
static bool isAnnihilatedWithout(linalg::LinalgOp op, OpOperand &operand) {
  ScalarTerms terms(op);
  const Term *absent = terms.getYieldsWithout(operand).front();
  OpOperand *init = op.getDpsInitOperand(0);
  return op.payloadUsesValueFromOperand(init)
             ? terms.isArgument(absent, init->getOperandNumber())
             : ScalarTerms::isZero(absent);
}

/// Whether `op` visits no element that `pattern`, an operand of its, leaves
/// out.
static bool isImplied(linalg::LinalgOp op, OpOperand &pattern,
                      SparsePatterns &patterns) {
  AffineMap map = op.getMatchingIndexingMap(&pattern);
  Value origin = patterns.originOf(pattern.get());
  auto isAlike = [&](OpOperand &other) {
    return isSparse(other.get().getType()) &&
           op.getMatchingIndexingMap(&other) == map &&
           patterns.originOf(other.get()) == origin;
  };
  if (isa<SampledGenericOp>(op) && isAlike(*op.getDpsInitOperand(0)))
    return true;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *other) {
    return other->get() != pattern.get() && isAlike(*other) &&
           isAnnihilatedWithout(op, *other);
  });
}

void sparse_autograd::dropImpliedPatterns(func::FuncOp derivative) {
  SparsePatterns patterns;
  derivative.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, SampledGenericOp>(op) ||
        op->getNumResults() != 1)
      return;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument selects = op.getMatchingBlockArgument(input);
      if (!input->get().getDefiningOp<PatternOp>() || selects.use_empty() ||
          !isImplied(op, *input, patterns))
        continue;
      for (Operation *user : llvm::make_early_inc_range(selects.getUsers())) {
        auto select = dyn_cast<arith::SelectOp>(user);
        if (!select || select.getCondition() != selects)
          continue;
        select.replaceAllUsesWith(select.getTrueValue());
        select.erase();
      }
      if (selects.use_empty())
        continue;
      OpBuilder builder = OpBuilder::atBlockBegin(op.getBlock());
      selects.replaceAllUsesWith(arith::ConstantOp::create(
          builder, op.getLoc(), builder.getBoolAttr(true)));
    }
  });
}
