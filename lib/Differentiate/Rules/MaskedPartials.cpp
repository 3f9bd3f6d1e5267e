//===- MaskedPartials.cpp - partial derivatives over masked slices --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedSlices.h"
#include "Slices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <limits>

using namespace mlir;
using namespace sparse_autograd;

Value MaskedSlices::exponential(Value value) {
  return elementwise(Extent::Full, computeType, value, fullMap,
                     [](OpBuilder &nested, Location loc, ValueRange args) {
                       return math::ExpOp::create(nested, loc, args[0]);
                     });
}

Value MaskedSlices::createTies(Value input, Value extremum) {
  SmallVector<Value> operands = {input, extremum};
  SmallVector<AffineMap> maps = {fullMap, reducedMap};
  addMask(operands, maps);
  return elementwise(
      Extent::Full, builder.getI1Type(), operands, maps,
      [&](OpBuilder &nested, Location loc, ValueRange args) -> Value {
        // A selected NaN is the extremum itself, which is the same for all of a
        // slice: the test of it leaves the loop over the elements.
        auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) {
          return arith::CmpFOp::create(nested, loc, predicate, a, b);
        };
        Value attains = arith::SelectOp::create(
            nested, loc, compare(arith::CmpFPredicate::UNO, args[1], args[1]),
            compare(arith::CmpFPredicate::UNO, args[0], args[0]),
            compare(arith::CmpFPredicate::OEQ, args[0], args[1]));
        if (!mask)
          return attains;
        return arith::AndIOp::create(nested, loc, args[2], attains);
      });
}

Value MaskedSlices::createFirst(Value candidates) {
  // The position of an element in its slice, in row-major order.
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (isReduced(dim))
      extents.push_back(tensor::DimOp::create(builder, loc, like, dim));
  auto position = [&](OpBuilder &nested, Location loc) {
    Value linear = arith::ConstantIndexOp::create(nested, loc, 0);
    unsigned next = 0;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!isReduced(dim))
        continue;
      linear = arith::MulIOp::create(nested, loc, linear, extents[next++]);
      linear = arith::AddIOp::create(nested, loc, linear,
                                     linalg::IndexOp::create(nested, loc, dim));
    }
    return arith::IndexCastOp::create(nested, loc, nested.getI64Type(), linear)
        .getResult();
  };
  auto none = builder.getI64IntegerAttr(std::numeric_limits<int64_t>::max());
  Value first =
      reduce(none, candidates, fullMap,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               Value last = arith::ConstantOp::create(nested, loc, none);
               Value here = arith::SelectOp::create(
                   nested, loc, args[0], position(nested, loc), last);
               return arith::MinSIOp::create(nested, loc, args[1], here);
             });
  return elementwise(
      Extent::Full, builder.getI1Type(), {candidates, first},
      {fullMap, reducedMap},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value isFirst =
            arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::eq,
                                  position(nested, loc), args[1]);
        return arith::AndIOp::create(nested, loc, args[0], isFirst);
      });
}

Value MaskedSlices::createProductOfOthers(Value input) {
  // With the reduced dimensions in front and collapsed into one, the products
  // of what comes before and of what comes after run along the first dimension.
  MLIRContext *context = builder.getContext();
  int64_t rank = type.getRank();
  SmallVector<AffineExpr> order;
  SmallVector<OpFoldResult> shape;
  for (bool wanted : {true, false}) {
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (isReduced(dim) != wanted)
        continue;
      order.push_back(builder.getAffineDimExpr(dim));
      shape.push_back(tensor::getMixedSize(builder, loc, like, dim));
    }
  }
  AffineMap orderMap = AffineMap::get(rank, 0, order, context);
  Value one = arith::ConstantOp::create(builder, loc,
                                        builder.getFloatAttr(computeType, 1.0));
  SmallVector<Value> operands = {input};
  SmallVector<AffineMap> maps = {fullMap};
  addMask(operands, maps);
  maps.push_back(orderMap);
  Value empty = tensor::EmptyOp::create(builder, loc, shape, computeType);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value factors =
      linalg::GenericOp::create(
          builder, loc, empty.getType(), operands, empty, maps, iterators,
          [&](OpBuilder &nested, Location loc, ValueRange args) {
            Value factor = args[0];
            if (mask)
              factor =
                  arith::SelectOp::create(nested, loc, args[1], factor, one);
            linalg::YieldOp::create(nested, loc, factor);
          })
          .getResult(0);

  int64_t numReduced = dims.size();
  if (numReduced == 0)
    return elementwise(Extent::Full, computeType, factors, fullMap,
                       [&](OpBuilder &, Location, ValueRange) { return one; });
  SmallVector<ReassociationIndices> groups(1 + rank - numReduced);
  for (int64_t dim = 0; dim < rank; ++dim)
    groups[std::max<int64_t>(0, dim - numReduced + 1)].push_back(dim);
  Value flat = factors;
  if (numReduced > 1)
    flat = tensor::CollapseShapeOp::create(builder, loc, factors, groups);

  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, flat);
  Value length = getValueOrCreateConstantIndexOp(builder, loc, sizes.front());
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sliceSizes(sizes);
  sliceSizes.front() = builder.getIndexAttr(1);
  auto flatType = cast<RankedTensorType>(flat.getType());
  auto sliceType =
      RankedTensorType::get(flatType.getShape().drop_front(), computeType);
  SmallVector<OpFoldResult> runningShape(sizes.begin() + 1, sizes.end());
  Value runningEmpty =
      tensor::EmptyOp::create(builder, loc, runningShape, computeType);
  Value ones =
      linalg::FillOp::create(builder, loc, one, runningEmpty).getResult(0);
  Value zeroIndex = arith::ConstantIndexOp::create(builder, loc, 0);
  Value oneIndex = arith::ConstantIndexOp::create(builder, loc, 1);

  // result[k] *= product of the factors visited before k.
  auto accumulateProducts = [&](Value result, bool isReversed) -> Value {
    auto loop = scf::ForOp::create(
        builder, loc, zeroIndex, length, oneIndex, ValueRange{result, ones},
        [&](OpBuilder &nested, Location loc, Value iv, ValueRange carried) {
          Value position = iv;
          if (isReversed) {
            position = arith::SubIOp::create(nested, loc, length, iv);
            position = arith::SubIOp::create(nested, loc, position, oneIndex);
          }
          SmallVector<OpFoldResult> at(offsets);
          at.front() = position;
          Value factor = createSlice(nested, loc, sliceType, flat, at,
                                     sliceSizes, strides);
          Value entry = createSlice(nested, loc, sliceType, carried[0], at,
                                    sliceSizes, strides);
          Value product = arith::MulFOp::create(nested, loc, entry, carried[1]);
          Value updated = replaceSlice(nested, loc, product, carried[0], at,
                                       sliceSizes, strides);
          Value running =
              arith::MulFOp::create(nested, loc, carried[1], factor);
          scf::YieldOp::create(nested, loc, ValueRange{updated, running});
        });
    return loop.getResult(0);
  };
  Value flatEmpty = tensor::EmptyOp::create(builder, loc, sizes, computeType);
  Value products =
      linalg::FillOp::create(builder, loc, one, flatEmpty).getResult(0);
  products = accumulateProducts(products, /*isReversed=*/false);
  products = accumulateProducts(products, /*isReversed=*/true);
  if (numReduced > 1)
    products = tensor::ExpandShapeOp::create(builder, loc, factors.getType(),
                                             products, groups, shape);
  return elementwise(
      Extent::Full, computeType, products, orderMap,
      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

Value MaskedSlices::createDeviation(Value input) {
  return elementwise(
      Extent::Full, computeType, {input, mean(input)}, {fullMap, reducedMap},
      [](OpBuilder &nested, Location loc, ValueRange args) {
        return arith::SubFOp::create(nested, loc, args[0], args[1]);
      });
}

/// 1 / (count - ddof) times `value`, 0 where count <= ddof.
static Value divideByFreedom(OpBuilder &builder, Location loc, Value count,
                             int64_t ddof, Value value) {
  Value bound =
      arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(ddof));
  Value freedom = arith::SubIOp::create(builder, loc, count, bound);
  Value divisor =
      arith::SIToFPOp::create(builder, loc, value.getType(), freedom);
  Value quotient = arith::DivFOp::create(builder, loc, value, divisor);
  Value isPositive = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sgt, count, bound);
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::SelectOp::create(builder, loc, isPositive, quotient, zero);
}

Value MaskedSlices::createVarianceScale(int64_t ddof) {
  Value count = createCount();
  return elementwise(computeType, count,
                     [&](OpBuilder &nested, Location loc, ValueRange args) {
                       Value two = arith::ConstantOp::create(
                           nested, loc, nested.getFloatAttr(computeType, 2.0));
                       return divideByFreedom(nested, loc, args[0], ddof, two);
                     });
}

Value MaskedSlices::createDeviationScale(Value std, int64_t ddof) {
  Value count = createCount();
  return elementwise(
      computeType, {count, std},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value zero = arith::ConstantOp::create(nested, loc,
                                               nested.getZeroAttr(computeType));
        Value one = arith::ConstantOp::create(
            nested, loc, nested.getFloatAttr(computeType, 1.0));
        Value inverse = arith::DivFOp::create(nested, loc, one, args[1]);
        Value scaled = divideByFreedom(nested, loc, args[0], ddof, inverse);
        Value isZero = arith::CmpFOp::create(
            nested, loc, arith::CmpFPredicate::OEQ, args[1], zero);
        return arith::SelectOp::create(nested, loc, isZero, zero, scaled);
      });
}

Value MaskedSlices::createDirection(Value input, Value norm) {
  return elementwise(
      Extent::Full, computeType, {input, norm}, {fullMap, reducedMap},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value zero = arith::ConstantOp::create(nested, loc,
                                               nested.getZeroAttr(computeType));
        Value quotient = arith::DivFOp::create(nested, loc, args[0], args[1]);
        Value isZero = arith::CmpFOp::create(
            nested, loc, arith::CmpFPredicate::OEQ, args[1], zero);
        return arith::SelectOp::create(nested, loc, isZero, zero, quotient);
      });
}

LogSumExp MaskedSlices::createLogSumExp(Value input) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(computeType).getFloatSemantics();
  auto infinity = FloatAttr::get(computeType, llvm::APFloat::getInf(semantics));
  auto negativeInfinity =
      FloatAttr::get(computeType, llvm::APFloat::getInf(semantics, true));
  auto zero = builder.getZeroAttr(computeType);
  auto one = builder.getFloatAttr(computeType, 1.0);
  /// `value` where it differs from `constant`, else `replacement`.
  auto replace = [](OpBuilder &nested, Location loc, Value compared,
                    TypedAttr constant, TypedAttr replacement,
                    Value value) -> Value {
    Value isEqual =
        arith::CmpFOp::create(nested, loc, arith::CmpFPredicate::OEQ, compared,
                              arith::ConstantOp::create(nested, loc, constant));
    return arith::SelectOp::create(
        nested, loc, isEqual,
        arith::ConstantOp::create(nested, loc, replacement), value);
  };

  // The quotients of the exponentials and their sum do not vary with the shift.
  Value maximum = StopGradientOp::create(
      builder, loc, reduceSelected(ReductionKind::Max, input));
  Value shift = elementwise(
      computeType, maximum,
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        return replace(nested, loc, args[0], negativeInfinity, zero, args[0]);
      });
  SmallVector<Value> operands = {input, shift};
  SmallVector<AffineMap> maps = {fullMap, reducedMap};
  addMask(operands, maps);
  LogSumExp result;
  result.exponentials = elementwise(
      Extent::Full, computeType, operands, maps,
      [&](OpBuilder &nested, Location loc, ValueRange args) -> Value {
        Value difference = arith::SubFOp::create(nested, loc, args[0], args[1]);
        Value exponential =
            replace(nested, loc, args[0], infinity, one,
                    math::ExpOp::create(nested, loc, difference));
        if (!mask)
          return exponential;
        return arith::SelectOp::create(
            nested, loc, args[2], exponential,
            arith::ConstantOp::create(nested, loc, zero));
      });
  Value sum = MaskedReduceOp::create(builder, loc, ReductionKind::Sum,
                                     result.exponentials, Value(), dims,
                                     ArrayRef<int64_t>());
  result.value = elementwise(
      computeType, {shift, sum},
      [](OpBuilder &nested, Location loc, ValueRange args) {
        Value logarithm = math::LogOp::create(nested, loc, args[1]);
        return arith::AddFOp::create(nested, loc, args[0], logarithm);
      });
  result.scale = elementwise(
      computeType, sum, [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value quotient = arith::DivFOp::create(
            nested, loc, arith::ConstantOp::create(nested, loc, one), args[0]);
        return replace(nested, loc, args[0], zero, zero, quotient);
      });
  return result;
}
