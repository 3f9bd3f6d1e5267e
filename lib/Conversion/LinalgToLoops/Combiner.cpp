//===- Combiner.cpp - how a reduction combines ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combiner.h"

#include "../NeutralElement.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace sparse_autograd {

/// Whether one operand of the binary `op` is `value` and the other is not.
static bool combines(Operation *op, Value value) {
  return op && op->getNumOperands() == 2 && op->getNumResults() == 1 &&
         (op->getOperand(0) == value) != (op->getOperand(1) == value);
}

/// select(m, combine(acc, x), acc) -> combine(acc, select(m, x, e)). The two
/// differ by no bit: e is neutral for every accumulator but a signalling NaN.
static void sinkSelect(OpOperand &yielded, BlockArgument accumulator,
                       RewriterBase &rewriter) {
  auto select = yielded.get().getDefiningOp<arith::SelectOp>();
  if (!select || !select->hasOneUse() ||
      select.getCondition().getType() != rewriter.getI1Type())
    return;
  bool keepsOnFalse = select.getFalseValue() == accumulator;
  if (!keepsOnFalse && select.getTrueValue() != accumulator)
    return;
  Value combined =
      keepsOnFalse ? select.getTrueValue() : select.getFalseValue();
  Operation *combiner = combined.getDefiningOp();
  if (!combines(combiner, accumulator) || !combiner->hasOneUse() ||
      !accumulator.hasNUses(2))
    return;
  TypedAttr neutral = getNeutralElement(combiner);
  if (!neutral)
    return;
  Location loc = select.getLoc();
  rewriter.setInsertionPoint(select);
  unsigned other = combiner->getOperand(0) == accumulator ? 1 : 0;
  Value element = arith::ConstantOp::create(rewriter, loc, neutral);
  Value x = combiner->getOperand(other);
  Value selected = arith::SelectOp::create(rewriter, loc, select.getCondition(),
                                           keepsOnFalse ? x : element,
                                           keepsOnFalse ? element : x);
  Operation *moved = rewriter.clone(*combiner);
  rewriter.modifyOpInPlace(moved, [&] { moved->setOperand(other, selected); });
  rewriter.modifyOpInPlace(yielded.getOwner(),
                           [&] { yielded.set(moved->getResult(0)); });
  rewriter.eraseOp(select);
  rewriter.eraseOp(combiner);
}

/// Lets the sum or product that makes `value` from `accumulator` be reordered:
/// the ops of its kind on the way from one to the other.
template <typename OpTy>
static void allowReassociation(Value value, BlockArgument accumulator) {
  SmallVector<OpTy> chain;
  while (auto op = value.getDefiningOp<OpTy>()) {
    chain.push_back(op);
    if (op.getLhs() == accumulator || op.getRhs() == accumulator) {
      for (OpTy link : chain)
        link.setFastmath(link.getFastmath() | arith::FastMathFlags::reassoc);
      return;
    }
    value =
        op.getLhs().template getDefiningOp<OpTy>() ? op.getLhs() : op.getRhs();
  }
}

void normalizeCombiners(linalg::LinalgOp op, RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  Operation *yield = op.getBlock()->getTerminator();
  for (auto [output, accumulator] : llvm::enumerate(op.getRegionOutputArgs())) {
    if (accumulator.use_empty())
      continue;
    OpOperand &yielded = yield->getOpOperand(output);
    sinkSelect(yielded, accumulator, rewriter);
    allowReassociation<arith::AddFOp>(yielded.get(), accumulator);
    allowReassociation<arith::MulFOp>(yielded.get(), accumulator);
  }
}

Operation *getCombiner(linalg::LinalgOp op, unsigned output) {
  BlockArgument accumulator = op.getRegionOutputArgs()[output];
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(output).getDefiningOp();
  if (!accumulator.hasOneUse() || !combines(combiner, accumulator) ||
      !combiner->hasOneUse() || !getNeutralElement(combiner))
    return nullptr;
  return combiner;
}

} // namespace sparse_autograd
