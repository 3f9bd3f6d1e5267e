//===- Exponential.cpp - the exponential of an f32 --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp of f32 as arithmetic, without a call: a call of a vector library spills
// every vector register around it. It vectorizes where there is no such
// library, and an element has the same bits wherever it stands, in a vector or
// in what is left over.
//
// x is split into n ln 2 + r with n an integer and |r| <= ln 2 / 2 (W. J. Cody,
// W. Waite: Software manual for the elementary functions, 1980). exp(r) is a
// polynomial whose coefficients minimise the largest relative error, 0.05 units
// in the last place; with the roundings the result is within 1.2 units
// (test/Execution/exponential.py).
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace {

struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Type floating = op.getType();
    if (!getElementTypeOrSelf(floating).isF32())
      return failure();
    Location loc = op.getLoc();
    Type integer = rewriter.getI32Type();
    if (auto vector = dyn_cast<VectorType>(floating))
      integer = vector.clone(integer);
    // A product and a sum may be one instruction. Nothing else may be assumed,
    // whatever the flags of the op: the steps below are exact on purpose.
    auto flags = arith::FastMathFlags::contract;
    auto constant = [&](double value) {
      return createScalarOrSplatConstant(rewriter, loc, floating,
                                         APFloat(static_cast<float>(value)));
    };
    auto integerConstant = [&](int64_t value) {
      return createScalarOrSplatConstant(rewriter, loc, integer, value);
    };
    auto multiplyAdd = [&](Value a, Value b, Value c) -> Value {
      Value product = arith::MulFOp::create(rewriter, loc, a, b, flags);
      return arith::AddFOp::create(rewriter, loc, product, c, flags);
    };

    // Beyond these the result is 0 and infinity, and n fits into 8 bits. A NaN
    // compares false and stays.
    Value x = op.getOperand();
    auto clamp = [&](arith::CmpFPredicate predicate, double bound) {
      Value limit = constant(bound);
      Value isBeyond =
          arith::CmpFOp::create(rewriter, loc, predicate, x, limit);
      x = arith::SelectOp::create(rewriter, loc, isBeyond, limit, x);
    };
    clamp(arith::CmpFPredicate::OGT, 89.0);
    clamp(arith::CmpFPredicate::OLT, -104.0);

    // Added to 1.5 * 2^23 a number is rounded to an integer, which is in the
    // lower bits of the sum.
    Value magic = constant(12582912.0);
    Value shifted = multiplyAdd(x, constant(0x1.715476p+0), magic);
    Value n = arith::SubFOp::create(rewriter, loc, shifted, magic);
    // The first part of ln 2 has so few bits that its product with n is exact.
    Value r = multiplyAdd(n, constant(-0x1.62ep-1), x);
    r = multiplyAdd(n, constant(-0x1.0bfbe8p-15), r);

    constexpr double coefficients[] = {0x1.6a2434p-10,
                                       0x1.1239e2p-7,
                                       0x1.5558f2p-5,
                                       0x1.555492p-3,
                                       0x1.fffffcp-2,
                                       1.0,
                                       1.0};
    Value exponential = constant(coefficients[0]);
    for (double coefficient : llvm::drop_begin(coefficients))
      exponential = multiplyAdd(exponential, r, constant(coefficient));

    // Times 2^n, in two halves: n may be too large or too small for one.
    Value bits = arith::BitcastOp::create(rewriter, loc, integer, shifted);
    Value exponent =
        arith::SubIOp::create(rewriter, loc, bits, integerConstant(0x4b400000));
    Value half =
        arith::ShRSIOp::create(rewriter, loc, exponent, integerConstant(1));
    Value rest = arith::SubIOp::create(rewriter, loc, exponent, half);
    for (Value power : {half, rest}) {
      Value field =
          arith::ShLIOp::create(rewriter, loc, power, integerConstant(23));
      Value scale = arith::AddIOp::create(rewriter, loc, field,
                                          integerConstant(0x3f800000));
      exponential = arith::MulFOp::create(
          rewriter, loc, exponential,
          arith::BitcastOp::create(rewriter, loc, floating, scale));
    }
    rewriter.replaceOp(op, exponential);
    return success();
  }
};

} // namespace

void sparse_autograd::populateExponentialPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExp>(patterns.getContext());
}
