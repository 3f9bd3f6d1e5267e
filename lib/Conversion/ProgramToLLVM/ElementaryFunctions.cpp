//===- ElementaryFunctions.cpp - functions of math --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What upstream's conversions of the math dialect would get wrong. Upstream
// expands sinh, asinh, acosh and atanh to exponentials and logarithms, and
// expm1 to exp(x) - 1: these cancel near 0 (asinh for all negative numbers) and
// overflow early. Here they are calls of libm, which LLVM vectorizes where
// there is a library for it.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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

LogicalResult sparse_autograd::expandNumberClasses(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  patterns.add<ExpandClassOfMagnitude<math::IsInfOp, true>,
               ExpandClassOfMagnitude<math::IsNormalOp, false>>(
      root->getContext());
  return applyPatternsGreedily(root, std::move(patterns));
}

LogicalResult sparse_autograd::expandElementaryFunctions(Operation *root) {
  MLIRContext *context = root->getContext();
  {
    RewritePatternSet patterns(context);
    patterns.add<ExpandClamp>(context);
    populateExponentialPatterns(patterns);
    math::populateExpansionPatterns(patterns, {"fpowi"});
    if (failed(applyPatternsGreedily(root, std::move(patterns))))
      return failure();
  }
  RewritePatternSet patterns(context);
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.addIllegalOp<math::AcoshOp, math::AsinhOp, math::AtanhOp,
                      math::ExpM1Op, math::SinhOp, math::CoshOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(root, target, std::move(patterns));
}
