//===- ExpandMath.cpp - math ops without a counterpart --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace {
/// max(min(x, high), low). Upstream's expansion takes the bounds for each other
/// (LLVM 22.1).
struct ExpandClamp : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value inner = arith::MinimumFOp::create(
        rewriter, op.getLoc(), op.getValue(), op.getMax(), op.getFastmath());
    rewriter.replaceOpWithNewOp<arith::MaximumFOp>(op, inner, op.getMin(),
                                                   op.getFastmath());
    return success();
  }
};

/// A number `x`, compared by its magnitude: `lower` <= |x|, and |x| < infinity
/// or |x| = infinity. LLVM's intrinsic for it is not reached from the dialect.
template <typename OpTy, bool isInfinity>
struct ExpandClassOfMagnitude : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = op.getOperand();
    Type type = operand.getType();
    const llvm::fltSemantics &semantics =
        cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
    Value magnitude = math::AbsFOp::create(rewriter, loc, operand);
    auto compare = [&](arith::CmpFPredicate predicate, const APFloat &bound) {
      TypedAttr attribute = FloatAttr::get(getElementTypeOrSelf(type), bound);
      if (auto shaped = dyn_cast<ShapedType>(type))
        attribute = DenseElementsAttr::get(shaped, bound);
      Value constant = arith::ConstantOp::create(rewriter, loc, attribute);
      return arith::CmpFOp::create(rewriter, loc, predicate, magnitude,
                                   constant);
    };
    APFloat infinity = APFloat::getInf(semantics);
    if constexpr (isInfinity) {
      rewriter.replaceOp(op, compare(arith::CmpFPredicate::OEQ, infinity));
    } else {
      Value isLarge = compare(arith::CmpFPredicate::OGE,
                              APFloat::getSmallestNormalized(semantics));
      Value isFinite = compare(arith::CmpFPredicate::OLT, infinity);
      rewriter.replaceOpWithNewOp<arith::AndIOp>(op, isLarge, isFinite);
    }
    return success();
  }
};
} // namespace

void sparse_autograd::populateExpandMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandClamp, ExpandClassOfMagnitude<math::IsInfOp, true>,
               ExpandClassOfMagnitude<math::IsNormalOp, false>>(
      patterns.getContext());
}
