//===- MaskedSoftmax.cpp - masked softmax to linalg -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedSpace.h"
#include "Patterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

using namespace mlir;
using namespace sparse_autograd;

using Element = MaskedSpace::Element;

/// The largest selected element of each slice.
///
/// Nothing is done about an infinite maximum: x - maximum is then a NaN at the
/// infinity itself, and so are the sum and every selected element of the slice.
/// There is no distribution to return.
static Value findMaximum(MaskedSpace &space) {
  FloatType type = space.getAccumulationType();
  TypedAttr lowest = FloatAttr::get(
      type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  return space.reduce({}, lowest, [&](ScalarBuilder &s, const Element &e) {
    Value selected = s.select(e.selected, e.value, s.constant(lowest));
    return SmallVector<Value>{s.maximum(e.accumulators[0], selected)};
  })[0];
}

static TypedAttr getZero(MaskedSpace &space) {
  return FloatAttr::get(space.getAccumulationType(), 0.0);
}

/// exp(x - maximum) of a selected element, zero of any other; the maximum is
/// the first of the slices' values.
static Value exponentiate(ScalarBuilder &s, const Element &e, TypedAttr zero) {
  Value exponential = s.exp(s.sub(e.value, e.slices[0]));
  return s.select(e.selected, exponential, s.constant(zero));
}

namespace {

/// masked_softmax becomes the maximum of each slice, the exponentials of
/// x - maximum, their sum, and a pass over the exponentials that divides them
/// by it: multiplies, with one reciprocal a slice, which is of a number between
/// 1 and the number of elements.
struct LowerMaskedSoftmax : OpRewritePattern<MaskedSoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaskedSoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    MaskedSpace space(rewriter, cast<MaskOpInterface>(op.getOperation()),
                      op.getDims(), op.getFastmath());
    FloatType type = space.getAccumulationType();
    TypedAttr zero = getZero(space);
    Value maximum = findMaximum(space);
    Value exponentials = space.mapElements(
        maximum, type, [&](ScalarBuilder &s, const Element &e) {
          return SmallVector<Value>{exponentiate(s, e, zero)};
        });
    MaskedSpace exponentialSpace = space.withInput(exponentials);
    Value sum = exponentialSpace.reduce(
        {}, zero, [&](ScalarBuilder &s, const Element &e) {
          return SmallVector<Value>{s.add(e.accumulators[0], e.value)};
        })[0];
    Value reciprocal =
        space.mapSlices(sum, type, [&](ScalarBuilder &s, ValueRange sums) {
          return s.div(s.constant(1.0, type), sums[0]);
        });
    // Where nothing is selected the reciprocal is infinite, and where a
    // selected element is not finite it is a NaN.
    Value result = exponentialSpace.mapElements(
        reciprocal, op.getType().getElementType(),
        [&](ScalarBuilder &s, const Element &e) {
          Value share = s.mul(e.value, e.slices[0]);
          return SmallVector<Value>{
              s.select(e.selected, share, s.constant(zero))};
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// masked_log_softmax becomes the maximum of each slice, the logarithm of the
/// sum of exp(x - maximum), and one pass over the elements.
struct LowerMaskedLogSoftmax : OpRewritePattern<MaskedLogSoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaskedLogSoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    MaskedSpace space(rewriter, cast<MaskOpInterface>(op.getOperation()),
                      op.getDims(), op.getFastmath());
    FloatType type = space.getAccumulationType();
    TypedAttr zero = getZero(space);
    Value maximum = findMaximum(space);
    Value sum =
        space.reduce(maximum, zero, [&](ScalarBuilder &s, const Element &e) {
          return SmallVector<Value>{
              s.add(e.accumulators[0], exponentiate(s, e, zero))};
        })[0];
    Value logarithm =
        space.mapSlices(sum, type, [](ScalarBuilder &s, ValueRange sums) {
          return s.log(sums[0]);
        });
    Value result =
        space.mapElements({maximum, logarithm}, op.getType().getElementType(),
                          [&](ScalarBuilder &s, const Element &e) {
                            Value value =
                                s.sub(s.sub(e.value, e.slices[0]), e.slices[1]);
                            return SmallVector<Value>{
                                s.select(e.selected, value, s.constant(zero))};
                          });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void sparse_autograd::populateMaskedSoftmaxPatterns(
    RewritePatternSet &patterns) {
  patterns.add<LowerMaskedSoftmax, LowerMaskedLogSoftmax>(
      patterns.getContext());
}
