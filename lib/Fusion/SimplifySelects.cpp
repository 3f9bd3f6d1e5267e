//===- SimplifySelects.cpp - merge selects of the same condition ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Differentiating a masked operation selects by the same mask at each step of
// the chain rule. Only the outermost select decides what is stored; the inner
// ones are evaluated where it already holds.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "SparseAutograd/Analysis/ThresholdSelect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sparse_autograd {

namespace {

/// Rewrites expressions under the assumption that some conditions have a known
/// truth value.
class Specializer {
public:
  Specializer(PatternRewriter &rewriter, Block *body)
      : rewriter(rewriter), body(body) {}

  /// Assumes that `condition` is `truth`, and what follows from that for the
  /// operands of a conjunction or a disjunction.
  void assume(Value condition, bool truth) {
    known.try_emplace(condition, truth);
    if (truth) {
      if (auto conjunction = condition.getDefiningOp<arith::AndIOp>()) {
        assume(conjunction.getLhs(), true);
        assume(conjunction.getRhs(), true);
      }
    } else if (auto disjunction = condition.getDefiningOp<arith::OrIOp>()) {
      assume(disjunction.getLhs(), false);
      assume(disjunction.getRhs(), false);
    }
    if (auto negation = condition.getDefiningOp<arith::XOrIOp>())
      if (matchPattern(negation.getRhs(), m_One()))
        assume(negation.getLhs(), !truth);
  }

  /// The value to use for `value` where the assumptions hold. Operations that
  /// change are copied, because others may still need the original.
  Value specialize(Value value, unsigned depth = 0) {
    // Deep chains gain nothing more, and the recursion has to end somewhere.
    constexpr unsigned maxDepth = 64;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != body || depth > maxDepth ||
        op->getNumRegions() != 0 || op->getNumResults() != 1 ||
        !isMemoryEffectFree(op))
      return value;
    if (Value done = cache.lookup(value))
      return done;
    Value result;
    auto select = dyn_cast<arith::SelectOp>(op);
    auto truth = select ? known.find(select.getCondition()) : known.end();
    if (select && truth != known.end()) {
      result = specialize(truth->second ? select.getTrueValue()
                                        : select.getFalseValue(),
                          depth + 1);
    } else {
      SmallVector<Value> operands;
      bool changed = false;
      for (Value operand : op->getOperands()) {
        operands.push_back(specialize(operand, depth + 1));
        changed |= operands.back() != operand;
      }
      result = value;
      if (changed) {
        Operation *copy = rewriter.clone(*op);
        copy->setOperands(operands);
        result = copy->getResult(0);
      }
    }
    cache[value] = result;
    return result;
  }

private:
  PatternRewriter &rewriter;
  Block *body;
  DenseMap<Value, bool> known;
  DenseMap<Value, Value> cache;
};

/// select(c, f(select(c, a, b)), d) -> select(c, f(a), d), and likewise in the
/// false branch.
struct SpecializeSelectBranches : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<linalg::LinalgOp>(op->getParentOp()) ||
        !op.getCondition().getType().isInteger(1))
      return failure();
    rewriter.setInsertionPoint(op);
    Specializer whenTrue(rewriter, op->getBlock());
    whenTrue.assume(op.getCondition(), true);
    Value trueValue = whenTrue.specialize(op.getTrueValue());
    Specializer whenFalse(rewriter, op->getBlock());
    whenFalse.assume(op.getCondition(), false);
    Value falseValue = whenFalse.specialize(op.getFalseValue());
    if (trueValue == op.getTrueValue() && falseValue == op.getFalseValue())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getTrueValueMutable().assign(trueValue);
      op.getFalseValueMutable().assign(falseValue);
    });
    return success();
  }
};

/// a or (a and b) -> a: the union of a mask with a part of it.
struct AbsorbConjunction : OpRewritePattern<arith::OrIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::OrIOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [whole, other] : {std::pair(op.getLhs(), op.getRhs()),
                                std::pair(op.getRhs(), op.getLhs())}) {
      auto part = other.getDefiningOp<arith::AndIOp>();
      if (!part || !llvm::is_contained(part->getOperands(), whole))
        continue;
      rewriter.replaceOp(op, whole);
      return success();
    }
    return failure();
  }
};

/// select(z > t, z, t) > t -> z > t: what the result of a relu tells, where it
/// is computed again.
struct CompareSelected : OpRewritePattern<arith::CmpFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::CmpFOp op,
                                PatternRewriter &rewriter) const override {
    arith::CmpFOp inner = getToldComparison(op.getLhs());
    if (!inner || inner.getPredicate() != op.getPredicate() ||
        inner.getRhs() != op.getRhs())
      return failure();
    rewriter.replaceOp(op, inner);
    return success();
  }
};

} // namespace

void populateSimplifySelectsPatterns(RewritePatternSet &patterns) {
  patterns.add<AbsorbConjunction, CompareSelected, SpecializeSelectBranches>(
      patterns.getContext());
}

} // namespace sparse_autograd
