//===- MaskedReduce.cpp - masked reductions to linalg ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedSpace.h"
#include "Patterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include <cmath>

using namespace mlir;
using namespace sparse_autograd;

namespace {

using Element = MaskedSpace::Element;

/// Lowers one masked_reduce. Every method returns a tensor of the element type
/// of the input with one value per slice, the reduced dimensions dropped.
class ReductionLowering {
public:
  ReductionLowering(PatternRewriter &rewriter, MaskedReduceOp op)
      : op(op), rewriter(rewriter),
        space(rewriter, cast<MaskOpInterface>(op.getOperation()), op.getDims(),
              op.getFastmath()),
        elementType(cast<FloatType>(op.getInput().getType().getElementType())),
        type(space.getAccumulationType()) {}

  Value lower() {
    switch (op.getKind()) {
    case ReductionKind::Sum:
      return round(sum());
    case ReductionKind::Mean:
      return round(mean(emptyMean(), elementType));
    case ReductionKind::Max:
      return round(maximum());
    case ReductionKind::Min:
      return round(minimum());
    case ReductionKind::Prod:
      return round(product());
    case ReductionKind::Var:
    case ReductionKind::Std:
      return variance(/*takeRoot=*/op.getKind() == ReductionKind::Std);
    case ReductionKind::Norm2:
      return norm();
    case ReductionKind::LogSumExp:
      return logSumExp();
    }
    llvm_unreachable("every kind of reduction is handled");
  }

private:
  TypedAttr attribute(double value) {
    return rewriter.getFloatAttr(type, value);
  }
  TypedAttr infinity(bool negative) {
    return FloatAttr::get(type,
                          APFloat::getInf(type.getFloatSemantics(), negative));
  }
  TypedAttr emptyMean() {
    if (op.getEmpty() == EmptyValue::NaN)
      return FloatAttr::get(type, APFloat::getNaN(type.getFloatSemantics()));
    return attribute(0.0);
  }

  /// The values of slices in the element type of the input.
  Value round(Value slices) {
    if (cast<RankedTensorType>(slices.getType()).getElementType() ==
        elementType)
      return slices;
    return space.mapSlices(
        slices, elementType,
        [](ScalarBuilder &, ValueRange values) { return values[0]; });
  }

  Value sum() {
    return space.reduce(
        {}, attribute(0.0), [&](ScalarBuilder &s, const Element &e) {
          Value selected =
              s.select(e.selected, e.value, s.constant(attribute(0.0)));
          return SmallVector<Value>{s.add(e.accumulators[0], selected)};
        })[0];
  }

  Value product() {
    return space.reduce(
        {}, attribute(1.0), [&](ScalarBuilder &s, const Element &e) {
          Value selected =
              s.select(e.selected, e.value, s.constant(attribute(1.0)));
          return SmallVector<Value>{s.mul(e.accumulators[0], selected)};
        })[0];
  }

  /// The identity wins over nothing, a selected NaN over everything.
  Value maximum() {
    TypedAttr identity = infinity(/*negative=*/true);
    return space.reduce({}, identity, [&](ScalarBuilder &s, const Element &e) {
      Value selected = s.select(e.selected, e.value, s.constant(identity));
      return SmallVector<Value>{s.maximum(e.accumulators[0], selected)};
    })[0];
  }

  Value minimum() {
    TypedAttr identity = infinity(/*negative=*/false);
    return space.reduce({}, identity, [&](ScalarBuilder &s, const Element &e) {
      Value selected = s.select(e.selected, e.value, s.constant(identity));
      return SmallVector<Value>{s.minimum(e.accumulators[0], selected)};
    })[0];
  }

  /// The mean in the float type `resultType`, `empty` where nothing is
  /// selected. `count` is set to the number of selected elements, an i64: a
  /// tensor per slice under a mask, else one number for all of them.
  ///
  /// The count is an integer until it divides: in f32 it would stop at 2^24.
  Value mean(TypedAttr empty, Type resultType) {
    SmallVector<Value> slices;
    if (space.hasMask()) {
      slices = space.reduce(
          {}, {attribute(0.0), rewriter.getI64IntegerAttr(0)},
          [&](ScalarBuilder &s, const Element &e) {
            Value selected =
                s.select(e.selected, e.value, s.constant(attribute(0.0)));
            Value one = arith::ExtUIOp::create(
                s.getBuilder(), rewriter.getI64Type(), e.selected);
            Value sum = s.add(e.accumulators[0], selected);
            Value count =
                arith::AddIOp::create(s.getBuilder(), e.accumulators[1], one);
            return SmallVector<Value>{sum, count};
          });
      count = slices[1];
    } else {
      slices.push_back(sum());
      count = space.getSliceSize();
    }
    return space.mapSlices(
        slices, resultType, [&](ScalarBuilder &s, ValueRange values) -> Value {
          Value n = space.hasMask() ? values[1] : count;
          // An empty sum is 0 already.
          Value divisor = arith::MaxSIOp::create(s.getBuilder(), n, s.i64(1));
          Value mean = s.div(values[0], s.toFloat(divisor, type));
          if (cast<FloatAttr>(empty).getValue().isZero())
            return mean;
          Value isEmpty = s.compare(arith::CmpIPredicate::eq, n, s.i64(0));
          return s.select(isEmpty, s.constant(empty), mean);
        });
  }

  /// In two passes: the squares of the deviations lose no digits to a large
  /// mean.
  Value variance(bool takeRoot) {
    Value mean = this->mean(attribute(0.0), type);
    Value squares = space.reduce(
        mean, attribute(0.0), [&](ScalarBuilder &s, const Element &e) {
          Value deviation = s.sub(e.value, e.slices[0]);
          Value selected = s.select(e.selected, s.mul(deviation, deviation),
                                    s.constant(attribute(0.0)));
          return SmallVector<Value>{s.add(e.accumulators[0], selected)};
        })[0];
    SmallVector<Value> slices = {squares};
    if (space.hasMask())
      slices.push_back(count);
    return space.mapSlices(
        slices, elementType, [&](ScalarBuilder &s, ValueRange values) -> Value {
          Value n = space.hasMask() ? values[1] : count;
          Value ddof = s.i64(op.getDdof());
          Value freedom = arith::SubIOp::create(s.getBuilder(), n, ddof);
          Value variance = s.div(values[0], s.toFloat(freedom, type));
          Value root = takeRoot ? s.sqrt(variance) : variance;
          Value isDefined = s.compare(arith::CmpIPredicate::sgt, n, ddof);
          return s.select(isDefined, root, s.constant(attribute(0.0)));
        });
  }

  /// One pass. Where squares could overflow or underflow, three sums are kept,
  /// of the large elements scaled down, of the small ones scaled up and of the
  /// others, and combined at the end (J. L. Blue: A portable Fortran program to
  /// find the Euclidean norm of a vector, ACM TOMS 4, 1978; E. Anderson:
  /// Algorithm 978: Safe scaling in the level 1 BLAS, ACM TOMS 44, 2017, whose
  /// thresholds and scales these are). All scales are powers of two.
  Value norm() {
    if (elementType.isF16())
      return normOfSquares();
    bool isF64 = type.isF64();
    double large = std::ldexp(1.0, isF64 ? 486 : 52);
    double small = std::ldexp(1.0, isF64 ? -511 : -63);
    double down = std::ldexp(1.0, isF64 ? -538 : -76);
    double up = std::ldexp(1.0, isF64 ? 537 : 75);
    SmallVector<Value> sums = space.reduce(
        {}, {attribute(0.0), attribute(0.0), attribute(0.0)},
        [&](ScalarBuilder &s, const Element &e) {
          Value zero = s.constant(attribute(0.0));
          Value magnitude = s.abs(e.value);
          // A NaN is neither large nor small.
          Value isLarge = s.compare(arith::CmpFPredicate::OGT, magnitude,
                                    s.constant(large, type));
          Value isSmall = s.compare(arith::CmpFPredicate::OLT, magnitude,
                                    s.constant(small, type));
          auto square = [&](double scale) {
            Value scaled = s.mul(magnitude, s.constant(scale, type));
            return s.mul(scaled, scaled);
          };
          SmallVector<Value> squares = {
              s.select(isLarge, square(down), zero),
              s.select(isLarge, zero,
                       s.select(isSmall, zero, s.mul(magnitude, magnitude))),
              s.select(isSmall, square(up), zero)};
          SmallVector<Value> results;
          for (auto [sum, square] : llvm::zip_equal(e.accumulators, squares))
            results.push_back(s.add(sum, s.select(e.selected, square, zero)));
          return results;
        });
    return space.mapSlices(
        sums, elementType, [&](ScalarBuilder &s, ValueRange values) -> Value {
          Value zero = s.constant(attribute(0.0));
          auto rescale = [&](Value sum, double factor) {
            Value scale = s.constant(factor, type);
            return s.mul(s.mul(sum, scale), scale);
          };
          Value hasLarge =
              s.compare(arith::CmpFPredicate::OGT, values[0], zero);
          Value hasOnlySmall =
              s.compare(arith::CmpFPredicate::OEQ, values[1], zero);
          Value withLarge = s.add(values[0], rescale(values[1], down));
          Value withSmall = s.add(values[1], rescale(values[2], 1.0 / up));
          Value sum = s.select(hasLarge, withLarge,
                               s.select(hasOnlySmall, values[2], withSmall));
          Value scale =
              s.select(hasLarge, s.constant(1.0 / down, type),
                       s.select(hasOnlySmall, s.constant(1.0 / up, type),
                                s.constant(attribute(1.0))));
          return s.mul(scale, s.sqrt(sum));
        });
  }

  /// The squares of all numbers of f16 are normal numbers of f32.
  Value normOfSquares() {
    Value squares = space.reduce(
        {}, attribute(0.0), [&](ScalarBuilder &s, const Element &e) {
          Value selected = s.select(e.selected, s.mul(e.value, e.value),
                                    s.constant(attribute(0.0)));
          return SmallVector<Value>{s.add(e.accumulators[0], selected)};
        })[0];
    return space.mapSlices(
        squares, elementType,
        [](ScalarBuilder &s, ValueRange values) { return s.sqrt(values[0]); });
  }

  /// shift + log(sum of exp(x - shift)). The shift is the maximum, but 0 where
  /// that is infinite: then the sum is 0 or +inf, and its logarithm the result.
  Value logSumExp() {
    auto shiftOf = [&](ScalarBuilder &s, Value maximum) {
      Value isInfinite = s.compare(arith::CmpFPredicate::OEQ, s.abs(maximum),
                                   s.constant(infinity(/*negative=*/false)));
      return s.select(isInfinite, s.constant(attribute(0.0)), maximum);
    };
    Value maximum = this->maximum();
    Value sum = space.reduce(
        maximum, attribute(0.0), [&](ScalarBuilder &s, const Element &e) {
          Value exponential = s.exp(s.sub(e.value, shiftOf(s, e.slices[0])));
          Value selected =
              s.select(e.selected, exponential, s.constant(attribute(0.0)));
          return SmallVector<Value>{s.add(e.accumulators[0], selected)};
        })[0];
    return space.mapSlices(
        {maximum, sum}, elementType, [&](ScalarBuilder &s, ValueRange values) {
          return s.add(shiftOf(s, values[0]), s.log(values[1]));
        });
  }

  MaskedReduceOp op;
  PatternRewriter &rewriter;
  MaskedSpace space;
  FloatType elementType;
  FloatType type;
  Value count;
};

/// masked_reduce becomes one or two reductions and a pass over the slices.
struct LowerMaskedReduce : OpRewritePattern<MaskedReduceOp> {
  using OpRewritePattern<MaskedReduceOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(MaskedReduceOp op,
                                PatternRewriter &rewriter) const override {
    Value result = ReductionLowering(rewriter, op).lower();
    if (op.getKeepdims())
      result = keepDimensions(op, result, rewriter);
    if (result.getType() != op.getType())
      result =
          tensor::CastOp::create(rewriter, op.getLoc(), op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }

  /// Puts the reduced dimensions back with extent 1.
  static Value keepDimensions(MaskedReduceOp op, Value slices,
                              PatternRewriter &rewriter) {
    RankedTensorType type = MaskedReduceOp::inferResultType(
        op.getInput().getType(), op.getDims(), /*keepdims=*/true);
    if (type == slices.getType())
      return slices;
    SmallVector<OpFoldResult> extents;
    // Each dimension of the slices becomes a group of dimensions: itself and
    // the reduced ones that follow, the first group also those before.
    SmallVector<ReassociationIndices> groups;
    bool hasKept = false;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool isKept = !op.isReduced(dim);
      if (groups.empty() || (isKept && hasKept))
        groups.emplace_back();
      groups.back().push_back(dim);
      hasKept |= isKept;
      if (isKept)
        extents.push_back(
            tensor::getMixedSize(rewriter, op.getLoc(), op.getInput(), dim));
      else
        extents.push_back(rewriter.getIndexAttr(1));
    }
    // A single value expands without groups.
    if (!hasKept)
      groups.clear();
    return tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type, slices,
                                         groups, extents);
  }
};

} // namespace

void sparse_autograd::populateMaskedReducePatterns(
    RewritePatternSet &patterns) {
  patterns.add<LowerMaskedReduce>(patterns.getContext());
}
