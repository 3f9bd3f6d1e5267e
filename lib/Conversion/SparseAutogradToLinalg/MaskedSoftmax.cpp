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

namespace {

/// masked_softmax and masked_log_softmax become the maximum of each slice, the
/// sum of exp(x - maximum) and one pass over the elements.
///
/// Nothing is done about an infinite maximum: x - maximum is then a NaN at the
/// infinity itself, and so are the sum and every selected element of the slice.
/// There is no distribution to return.
template <typename OpTy>
struct LowerMaskedSoftmax : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  using Element = MaskedSpace::Element;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    MaskedSpace space(rewriter, cast<MaskOpInterface>(op.getOperation()),
                      op.getDims(), op.getFastmath());
    FloatType type = space.getAccumulationType();
    TypedAttr zero = rewriter.getFloatAttr(type, 0.0);
    TypedAttr lowest = FloatAttr::get(
        type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));

    Value maximum =
        space.reduce({}, lowest, [&](ScalarBuilder &s, const Element &e) {
          Value selected = s.select(e.selected, e.value, s.constant(lowest));
          return SmallVector<Value>{s.maximum(e.accumulators[0], selected)};
        })[0];
    Value sum =
        space.reduce(maximum, zero, [&](ScalarBuilder &s, const Element &e) {
          Value exponential = s.exp(s.sub(e.value, e.slices[0]));
          Value selected = s.select(e.selected, exponential, s.constant(zero));
          return SmallVector<Value>{s.add(e.accumulators[0], selected)};
        })[0];
    constexpr bool isLog = std::is_same_v<OpTy, MaskedLogSoftmaxOp>;
    Value total = sum;
    if (isLog)
      total = space.mapSlices(sum, type, [](ScalarBuilder &s, ValueRange sums) {
        return s.log(sums[0]);
      });
    Value result = space.mapElements({maximum, total}, [&](ScalarBuilder &s,
                                                           const Element &e) {
      Value shifted = s.sub(e.value, e.slices[0]);
      Value value = isLog ? s.sub(shifted, e.slices[1])
                          : s.div(s.exp(shifted), e.slices[1]);
      return SmallVector<Value>{s.select(e.selected, value, s.constant(zero))};
    });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void sparse_autograd::populateMaskedSoftmaxPatterns(
    RewritePatternSet &patterns) {
  patterns.add<LowerMaskedSoftmax<MaskedSoftmaxOp>,
               LowerMaskedSoftmax<MaskedLogSoftmaxOp>>(patterns.getContext());
}
