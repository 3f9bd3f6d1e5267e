//===- Random.cpp - counter-based random numbers to linalg ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormalQuantile.h"
#include "Patterns.h"
#include "ScalarBuilder.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <cmath>

using namespace mlir;
using namespace sparse_autograd;

static constexpr int64_t lowWord = 0xFFFFFFFF;
static constexpr int numRounds = 10;

namespace {

/// Arithmetic on i64, in which 32-bit words are held zero-extended: a product
/// of two words is then one multiplication, in a lane of a vector too.
class IntegerBuilder {
public:
  explicit IntegerBuilder(ScalarBuilder &scalars)
      : scalars(scalars), builder(scalars.getBuilder()) {}

  Value constant(int64_t value) { return scalars.i64(value); }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, lhs, rhs);
  }
  Value mul(Value lhs, Value rhs) {
    return arith::MulIOp::create(builder, lhs, rhs);
  }
  Value bitXor(Value lhs, Value rhs) {
    return arith::XOrIOp::create(builder, lhs, rhs);
  }
  Value bitOr(Value lhs, Value rhs) {
    return arith::OrIOp::create(builder, lhs, rhs);
  }
  Value shiftLeft(Value x, int64_t count) {
    return arith::ShLIOp::create(builder, x, constant(count));
  }
  Value shiftRight(Value x, int64_t count) {
    return arith::ShRUIOp::create(builder, x, constant(count));
  }
  Value low(Value x) {
    return arith::AndIOp::create(builder, x, constant(lowWord));
  }
  Value high(Value x) { return shiftRight(x, 32); }

private:
  ScalarBuilder &scalars;
  ImplicitLocOpBuilder &builder;
};

} // namespace

/// The keys of the rounds, two words each: the halves of the seed, advanced by
/// Philox's Weyl constants.
static SmallVector<std::pair<Value, Value>> roundKeys(IntegerBuilder &integers,
                                                      Value seed) {
  SmallVector<std::pair<Value, Value>> keys;
  Value low = integers.low(seed), high = integers.high(seed);
  for (int round = 0; round < numRounds; ++round) {
    int64_t lowStep = (round * int64_t(0x9E3779B9)) & lowWord;
    int64_t highStep = (round * int64_t(0xBB67AE85)) & lowWord;
    keys.emplace_back(
        integers.low(integers.add(low, integers.constant(lowStep))),
        integers.low(integers.add(high, integers.constant(highStep))));
  }
  return keys;
}

/// Philox 4x32-10: the block of the 128-bit counter (`low`, `high`), as its two
/// halves of 64 bits, the words 0 and 1 and the words 2 and 3 of the block,
/// the word of the lower number in the lower bits.
static std::pair<Value, Value> philox(IntegerBuilder &integers, Value low,
                                      Value high,
                                      ArrayRef<std::pair<Value, Value>> keys) {
  Value word0 = integers.low(low), word1 = integers.high(low);
  Value word2 = integers.low(high), word3 = integers.high(high);
  Value multiplier0 = integers.constant(0xD2511F53);
  Value multiplier1 = integers.constant(0xCD9E8D57);
  for (auto [key0, key1] : keys) {
    Value product0 = integers.mul(word0, multiplier0);
    Value product1 = integers.mul(word2, multiplier1);
    word0 =
        integers.bitXor(integers.bitXor(integers.high(product1), word1), key0);
    word2 =
        integers.bitXor(integers.bitXor(integers.high(product0), word3), key1);
    word1 = integers.low(product1);
    word3 = integers.low(product0);
  }
  return {integers.bitOr(word0, integers.shiftLeft(word1, 32)),
          integers.bitOr(word2, integers.shiftLeft(word3, 32))};
}

/// The upper `precision` of 64 random bits as a number in [0, 1) of `type`, a
/// multiple of 2^-precision: every such number is one of `type`.
static Value uniform(ScalarBuilder &scalars, Value bits, FloatType type,
                     int precision) {
  IntegerBuilder integers(scalars);
  Value upper = integers.shiftRight(bits, 64 - precision);
  FloatType wide =
      type.getWidth() < 32 ? scalars.getBuilder().getF32Type() : type;
  if (!wide.isF64())
    upper = arith::TruncIOp::create(scalars.getBuilder(),
                                    scalars.getBuilder().getI32Type(), upper);
  Value number =
      scalars.mul(scalars.toFloat(upper, wide),
                  scalars.constant(std::ldexp(1.0, -precision), wide));
  return scalars.convert(number, type);
}

/// The upper 52 of 64 random bits as the middle of one of the 2^52 cells of
/// (0, 1), an f64: never 0, never 1, and as often x as 1 - x.
static Value openUniform(ScalarBuilder &scalars, Value bits) {
  Type f64 = scalars.getBuilder().getF64Type();
  Value cell = IntegerBuilder(scalars).shiftRight(bits, 12);
  Value middle =
      scalars.add(scalars.toFloat(cell, f64), scalars.constant(0.5, f64));
  return scalars.mul(middle, scalars.constant(std::ldexp(1.0, -52), f64));
}

/// One element, from its 64 random bits.
static Value drawElement(ScalarBuilder &scalars, RandomOp op, Value bits) {
  Type elementType = op.getType().getElementType();
  FloatType f64 = scalars.getBuilder().getF64Type();
  switch (op.getDistribution()) {
  case Distribution::Uniform: {
    auto type = cast<FloatType>(elementType);
    return uniform(scalars, bits, type,
                   static_cast<int>(type.getFPMantissaWidth()));
  }
  case Distribution::Normal: {
    Value normal = buildNormalQuantile(scalars, openUniform(scalars, bits));
    // From f64 to the 16-bit types by way of f32, on every target.
    if (elementType.getIntOrFloatBitWidth() < 32)
      normal = scalars.convert(normal, scalars.getBuilder().getF32Type());
    return scalars.convert(normal, elementType);
  }
  case Distribution::Bernoulli: {
    Value probability =
        scalars.constant(op.getProbability()->convertToDouble(), f64);
    return scalars.compare(arith::CmpFPredicate::OLT,
                           uniform(scalars, bits, f64, /*precision=*/53),
                           probability);
  }
  }
  llvm_unreachable("every distribution is handled");
}

namespace {

/// random becomes one loop that computes each element from its position.
struct LowerRandom : OpRewritePattern<RandomOp> {
  using OpRewritePattern<RandomOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(RandomOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    int64_t rank = type.getRank();
    SmallVector<OpFoldResult> extents =
        getMixedValues(type.getShape(), op.getExtents(), rewriter);

    // What all elements share is computed once, before the loop.
    ScalarBuilder outer(rewriter, loc);
    IntegerBuilder outerIntegers(outer);
    SmallVector<std::pair<Value, Value>> keys =
        roundKeys(outerIntegers, op.getSeed());
    SmallVector<Value> sizes;
    for (OpFoldResult extent : extents)
      sizes.push_back(arith::IndexCastOp::create(
          rewriter, loc, rewriter.getI64Type(),
          getValueOrCreateConstantIndexOp(rewriter, loc, extent)));

    Value empty = tensor::EmptyOp::create(rewriter, loc, type, op.getExtents());
    SmallVector<utils::IteratorType> parallel(rank,
                                              utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange(type), ValueRange(), ValueRange(empty),
        rewriter.getMultiDimIdentityMap(rank), parallel,
        [&](OpBuilder &builder, Location loc, ValueRange) {
          ScalarBuilder scalars(builder, loc);
          IntegerBuilder integers(scalars);
          Value position = integers.constant(0);
          for (int64_t dim = 0; dim < rank; ++dim) {
            Value index = arith::IndexCastOp::create(
                builder, loc, builder.getI64Type(),
                linalg::IndexOp::create(builder, loc, dim));
            position =
                dim == 0
                    ? index
                    : integers.add(integers.mul(position, sizes[dim]), index);
          }
          auto [even, odd] = philox(integers, integers.shiftRight(position, 1),
                                    op.getCounter(), keys);
          Value isOdd = arith::TruncIOp::create(builder, loc,
                                                builder.getI1Type(), position);
          Value bits = scalars.select(isOdd, odd, even);
          linalg::YieldOp::create(builder, loc, drawElement(scalars, op, bits));
        });
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }
};

} // namespace

void sparse_autograd::populateRandomPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerRandom>(patterns.getContext());
}
