//===- FoldNegations.cpp - subtract what is negated and added -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/FoldNegations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::dropNegation(OpBuilder &builder, Value value) {
  if (auto negation = value.getDefiningOp<arith::NegFOp>())
    return negation.getOperand();
  // What others use stays, and would be one more operation.
  Operation *op = value.getDefiningOp();
  if (!op || !llvm::hasNItemsOrLess(op->getUses(), 1))
    return {};
  if (auto product = dyn_cast<arith::MulFOp>(op)) {
    for (auto [negated, other] :
         {std::pair(product.getLhs(), product.getRhs()),
          std::pair(product.getRhs(), product.getLhs())})
      if (Value opposite = dropNegation(builder, negated))
        return arith::MulFOp::create(builder, op->getLoc(), opposite, other,
                                     product.getFastmath());
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
      if (Value opposite = dropNegation(builder, select.getTrueValue()))
        return arith::SelectOp::create(builder, op->getLoc(),
                                       select.getCondition(), opposite,
                                       select.getFalseValue());
  }
  return {};
}

namespace {

struct FoldNegation : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [minuend, negated] : {std::pair(op.getLhs(), op.getRhs()),
                                    std::pair(op.getRhs(), op.getLhs())}) {
      Value subtrahend = dropNegation(rewriter, negated);
      if (!subtrahend)
        continue;
      rewriter.replaceOpWithNewOp<arith::SubFOp>(op, minuend, subtrahend,
                                                 op.getFastmath());
      return success();
    }
    return failure();
  }
};

} // namespace

/// What `value` is the negation of, element by element; null if of nothing.
static Value getNegated(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getBody()->getOperations().size() != 2 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  auto negation = dyn_cast<arith::NegFOp>(op.getBody()->front());
  if (!negation || negation.getOperand() != op.getBody()->getArgument(0) ||
      op.getBody()->getTerminator()->getOperand(0) != negation.getResult())
    return {};
  return op.getDpsInputs().front();
}

namespace {

struct FoldNegatedInput : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument element = op.getMatchingBlockArgument(input);
      Value negated = getNegated(input->get());
      auto isAdded = [&](Operation *user) {
        auto sum = dyn_cast<arith::AddFOp>(user);
        return sum && sum.getLhs() != sum.getRhs();
      };
      if (!negated || element.use_empty() ||
          !llvm::all_of(element.getUsers(), isAdded))
        continue;
      rewriter.modifyOpInPlace(op, [&] { input->set(negated); });
      for (Operation *user : llvm::make_early_inc_range(element.getUsers())) {
        auto sum = cast<arith::AddFOp>(user);
        rewriter.setInsertionPoint(sum);
        rewriter.replaceOpWithNewOp<arith::SubFOp>(
            sum, sum.getLhs() == element ? sum.getRhs() : sum.getLhs(), element,
            sum.getFastmath());
      }
      return success();
    }
    return failure();
  }
};

} // namespace

void sparse_autograd::populateFoldNegationsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<FoldNegation, FoldNegatedInput>(patterns.getContext());
}
