//===- NarrowFloats.cpp - f16 and bf16 in f32 -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/NarrowFloats.h"

#include "SparseAutograd/Analysis/ComparedValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace {
/// Rounds f64 to f16 or bf16 by way of f32 without rounding twice: first to
/// odd, which sets the last bit of a result that is not exact, so that it is no
/// tie and no number of the narrow type (Boldo and Melquiond: Emulation of a
/// FMA and correctly rounded sums, IEEE Transactions on Computers, 2008).
struct TruncateF64ToNarrow : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value wide = op.getIn();
    Type narrow = getElementTypeOrSelf(op.getType());
    if (!getElementTypeOrSelf(wide.getType()).isF64() ||
        (!narrow.isF16() && !narrow.isBF16()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto withElement = [&](Type element) -> Type {
      if (auto shaped = dyn_cast<ShapedType>(op.getType()))
        return shaped.clone(element);
      return element;
    };
    Type single = withElement(b.getF32Type());
    Type integer = withElement(b.getI32Type());
    Value one = arith::ConstantOp::create(b, b.getOneAttr(integer));
    Value nearest = arith::TruncFOp::create(b, single, wide);
    Value back = arith::ExtFOp::create(b, wide.getType(), nearest);
    Value bits = arith::BitcastOp::create(b, integer, nearest);
    // Towards zero, where it was rounded away from it.
    Value isAway = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                         math::AbsFOp::create(b, back),
                                         math::AbsFOp::create(b, wide));
    Value towardsZero = arith::SelectOp::create(
        b, isAway, arith::SubIOp::create(b, bits, one), bits);
    Value odd = arith::OrIOp::create(b, towardsZero, one);
    // False for a NaN as well, which stays what it is.
    Value isInexact =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, wide);
    Value rounded = arith::BitcastOp::create(
        b, single, arith::SelectOp::create(b, isInexact, odd, bits));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), rounded);
    return success();
  }
};

/// Computes a b + c of f16 in f64, which holds the product, and the sum where
/// that is a number of f16. LLVM does so as well, but rounds by calling a
/// library, unless the processor has arithmetic of f16.
struct ExpandFmaOfF16 : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF16())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type wide = b.getF64Type();
    if (auto shaped = dyn_cast<ShapedType>(type))
      wide = shaped.clone(wide);
    auto extend = [&](Value value) {
      return arith::ExtFOp::create(b, wide, value);
    };
    Value product =
        arith::MulFOp::create(b, extend(op.getA()), extend(op.getB()));
    Value sum = arith::AddFOp::create(b, product, extend(op.getC()));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, sum);
    return success();
  }
};

/// Takes the sign of a bf16 from LLVM's own extension of it, not from integer
/// instructions: where nothing but the sign of these is used, LLVM asks for the
/// sign of the bf16 and gets it wrong, unless a pass has removed the bf16
/// (LLVM 22.1). Elsewhere the integer instructions are better: they vectorize.
struct ExtendSignOfBF16 : OpRewritePattern<math::CopySignOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::CopySignOp op,
                                PatternRewriter &rewriter) const override {
    auto extension = op.getRhs().getDefiningOp<arith::ExtFOp>();
    if (!extension ||
        !getElementTypeOrSelf(extension.getIn().getType()).isBF16())
      return failure();
    Value sign = LLVM::FPExtOp::create(rewriter, op.getLoc(),
                                       extension.getType(), extension.getIn());
    rewriter.modifyOpInPlace(op, [&] { op.getRhsMutable().assign(sign); });
    return success();
  }
};
} // namespace

/// Whether `op` goes on with its operand in f32 as it was before it was
/// rounded, which `contract` allows, and tells nobody which of them it had.
static bool keepsPrecision(Operation *op) {
  auto extension = dyn_cast<arith::ExtFOp>(op);
  if (!extension || !arith::bitEnumContainsAny(extension.getFastmath().value_or(
                                                   arith::FastMathFlags::none),
                                               arith::FastMathFlags::contract))
    return false;
  return llvm::none_of(op->getUsers(), [](Operation *user) {
    auto comparison = dyn_cast<arith::CmpFOp>(user);
    return comparison && sparse_autograd::isEqualityComparison(comparison);
  });
}

/// What is stored goes on as it is stored: another loop that computes from it
/// what this one does has the same numbers then. So does what is compared for
/// equality, of which one side may be stored and the other one not.
static void roundWhatIsSeen(Operation *root) {
  root->walk([](arith::TruncFOp rounding) {
    if (!llvm::all_of(rounding->getUsers(), keepsPrecision))
      rounding.removeFastmathAttr();
  });
}

LogicalResult sparse_autograd::emulateNarrowFloats(Operation *root) {
  MLIRContext *context = root->getContext();
  Type f32 = Float32Type::get(context);
  Type narrow[] = {Float16Type::get(context), BFloat16Type::get(context)};
  {
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(converter, narrow, f32);
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    if (failed(applyPartialConversion(root, target, std::move(patterns))))
      return failure();
  }
  {
    TypeConverter converter;
    SetVector<Type> supported;
    supported.insert(f32);
    supported.insert(Float64Type::get(context));
    math::populateExtendToSupportedTypesTypeConverter(converter, supported,
                                                      f32);
    ConversionTarget target(*context);
    math::populateExtendToSupportedTypesConversionTarget(target, converter);
    RewritePatternSet patterns(context);
    math::populateExtendToSupportedTypesPatterns(patterns, converter);
    if (failed(applyPartialConversion(root, target, std::move(patterns))))
      return failure();
  }
  roundWhatIsSeen(root);
  RewritePatternSet signPatterns(context);
  signPatterns.add<ExtendSignOfBF16>(context);
  walkAndApplyPatterns(root, std::move(signPatterns));
  // Without the instructions for it, LLVM would call a library to round to
  // bf16, or f64 to f16; these are a few integer instructions, which vectorize.
  RewritePatternSet patterns(context);
  arith::populateExpandBFloat16Patterns(patterns);
  patterns.add<ExpandFmaOfF16, TruncateF64ToNarrow>(context);
  return applyPatternsGreedily(root, std::move(patterns));
}
