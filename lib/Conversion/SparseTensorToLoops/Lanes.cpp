//===- Lanes.cpp - lanes of a vectorized dense loop -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include "../CombineHalves.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

Value Lanes::broadcast(OpBuilder &builder, Location loc, Value value) const {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, loc, getType(value.getType()),
                                     value);
}

Value Lanes::load(OpBuilder &builder, Location loc, Value tensor,
                  ValueRange place) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = type.getElementType();
  Value padding =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  return vector::TransferReadOp::create(
      builder, loc, getType(element), tensor, place,
      AffineMap::getMinorIdentityMap(type.getRank(), 1, builder.getContext()),
      padding, mask, builder.getBoolArrayAttr(true));
}

Value Lanes::store(OpBuilder &builder, Location loc, Value vector, Value tensor,
                   ValueRange place) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  return vector::TransferWriteOp::create(
             builder, loc, type, broadcast(builder, loc, vector), tensor, place,
             AffineMap::getMinorIdentityMap(type.getRank(), 1,
                                            builder.getContext()),
             mask, builder.getBoolArrayAttr(true))
      .getResult();
}

namespace {
/// Loops over the strips of one dense loop.
class StripBuilder {
public:
  StripBuilder(OpBuilder &builder, Location loc, unsigned loop, Value extent)
      : builder(builder), loc(loc), loop(loop), extent(extent) {
    APInt value;
    if (matchPattern(extent, m_ConstantInt(&value)))
      constant = value.getSExtValue();
  }

  std::optional<int64_t> getConstant() const { return constant; }

  /// The largest multiple of `count` that is at most the extent.
  Value getEndOfWhole(int64_t count) {
    if (constant)
      return index(*constant - *constant % count);
    Value rest = arith::RemUIOp::create(builder, loc, extent, index(count));
    return arith::SubIOp::create(builder, loc, extent, rest);
  }

  /// Strips of `count` lanes from `begin` to `end`; the last one is masked if
  /// `isMasked`.
  SmallVector<Value> build(Value begin, Value end, int64_t count, bool isMasked,
                           ValueRange carried, StripBody body) {
    auto strip = [&](Value first, ValueRange now) {
      Lanes lanes{loop, count};
      if (isMasked) {
        Value left = arith::SubIOp::create(builder, loc, end, first);
        lanes.mask = vector::CreateMaskOp::create(
            builder, loc, lanes.getType(builder.getI1Type()), left);
      }
      return body(lanes, first, now);
    };
    APInt first, last;
    if (matchPattern(begin, m_ConstantInt(&first)) &&
        matchPattern(end, m_ConstantInt(&last))) {
      if (first == last)
        return SmallVector<Value>(carried);
      if (!isMasked && (last - first).getSExtValue() == count)
        return strip(begin, carried);
    }
    auto strips =
        scf::ForOp::create(builder, loc, begin, end, index(count), carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(strips.getBody());
    SmallVector<Value> next =
        strip(strips.getInductionVar(), strips.getRegionIterArgs());
    scf::YieldOp::create(builder, loc, next);
    return SmallVector<Value>(strips.getResults());
  }

  /// The rest after `begin`: whole strips of `count` lanes, then a masked one
  /// if the extent is open.
  SmallVector<Value> buildTail(Value begin, int64_t count, ValueRange carried,
                               StripBody body) {
    Value end = getEndOfWhole(count);
    SmallVector<Value> values =
        build(begin, end, count, /*isMasked=*/false, carried, body);
    if (constant)
      return values;
    return build(end, extent, count, /*isMasked=*/true, values, body);
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

private:
  OpBuilder &builder;
  Location loc;
  unsigned loop;
  Value extent;
  std::optional<int64_t> constant;
};
} // namespace

SmallVector<Value>
sparse_autograd::buildStrips(OpBuilder &builder, Location loc, unsigned loop,
                             Value extent, int64_t count, int64_t tail,
                             ValueRange carried, StripBody body) {
  StripBuilder strips(builder, loc, loop, extent);
  Value end = strips.getEndOfWhole(count);
  SmallVector<Value> values = strips.build(strips.index(0), end, count,
                                           /*isMasked=*/false, carried, body);
  std::optional<int64_t> constant = strips.getConstant();
  if (constant && *constant % count == 0)
    return values;
  if (constant)
    return strips.build(end, extent, *constant % count, /*isMasked=*/false,
                        values, body);
  return strips.buildTail(end, tail, values, body);
}

Value sparse_autograd::createNoTerms(OpBuilder &builder, Location loc,
                                     VectorType type) {
  TypedAttr zero = builder.getZeroAttr(type.getElementType());
  if (auto element = dyn_cast<FloatType>(type.getElementType()))
    zero = builder.getFloatAttr(
        element, APFloat::getZero(element.getFloatSemantics(), true));
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, zero));
}

/// Adds the halves of `vector` until it has `count` lanes.
static Value addHalves(OpBuilder &builder, Location loc, Value vector,
                       int64_t count) {
  return combineHalves(builder, loc, vector, count, [&](Value one, Value two) {
    return vector::makeArithReduction(builder, loc, vector::CombiningKind::ADD,
                                      one, two);
  });
}

SmallVector<Value> sparse_autograd::buildSums(OpBuilder &builder, Location loc,
                                              unsigned loop, Value extent,
                                              int64_t count, int64_t tail,
                                              ValueRange sums, StripBody body) {
  StripBuilder strips(builder, loc, loop, extent);
  auto start = [&](int64_t lanes) {
    return llvm::map_to_vector(sums.getTypes(), [&](Type type) {
      return createNoTerms(builder, loc, VectorType::get(lanes, type));
    });
  };
  auto add = [&](const Lanes &lanes, Value index, ValueRange now) {
    SmallVector<Value> next = body(lanes, index, now);
    if (lanes.mask)
      for (auto [vector, before] : llvm::zip_equal(next, now))
        vector =
            arith::SelectOp::create(builder, loc, lanes.mask, vector, before);
    return next;
  };
  SmallVector<SmallVector<Value>> partials;
  std::optional<int64_t> constant = strips.getConstant();
  if (!constant || *constant >= tail) {
    Value end = strips.getEndOfWhole(count);
    SmallVector<Value> vectors = strips.build(
        strips.index(0), end, count, /*isMasked=*/false, start(count), add);
    for (Value &vector : vectors)
      vector = addHalves(builder, loc, vector, tail);
    partials.push_back(strips.buildTail(end, tail, vectors, add));
  }
  // The remainder of a constant extent has a vector of its own.
  if (constant && *constant % tail != 0)
    partials.push_back(add({loop, *constant % tail}, strips.getEndOfWhole(tail),
                           start(*constant % tail)));
  SmallVector<Value> results(sums);
  for (const SmallVector<Value> &vectors : partials)
    for (auto [result, vector] : llvm::zip_equal(results, vectors)) {
      // Halves are added as long as there are two, in an order of ours: LLVM's
      // would depend on the target.
      int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
      Value halves = llvm::isPowerOf2_64(lanes)
                         ? addHalves(builder, loc, vector, 1)
                         : vector;
      result = vector::ReductionOp::create(
          builder, loc, vector::CombiningKind::ADD, halves, result);
    }
  return results;
}
