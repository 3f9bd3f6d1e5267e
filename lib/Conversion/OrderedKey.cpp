//===- OrderedKey.cpp - floats as integers of the same order ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderedKey.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sparse_autograd {

bool isExtremum(Operation *op) {
  if (!isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
           arith::MinNumFOp>(op))
    return false;
  Type type = getElementTypeOrSelf(op->getResult(0));
  return type.isF32() || type.isF64();
}

static bool isMaximum(Operation *extremum) {
  return isa<arith::MaximumFOp, arith::MaxNumFOp>(extremum);
}

/// A constant of `type`, an integer or a vector of them.
static Value createInteger(OpBuilder &builder, Location loc, Type type,
                           const APInt &value) {
  TypedAttr attribute =
      builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(builder, loc, attribute);
}

/// `type` with elements of `element`, or `element` if it is no vector.
static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

/// The bits of a float as a signed integer, those of a negative one but the
/// sign inverted. It is its own inverse.
static Value flipNegative(OpBuilder &builder, Location loc, Value bits) {
  Type type = bits.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value sign = arith::ShRSIOp::create(
      builder, loc, bits,
      createInteger(builder, loc, type, APInt(width, width - 1)));
  Value mask = arith::AndIOp::create(
      builder, loc, sign,
      createInteger(builder, loc, type, APInt::getSignedMaxValue(width)));
  return arith::XOrIOp::create(builder, loc, bits, mask);
}

Value encodeKey(OpBuilder &builder, Location loc, Operation *extremum,
                Value value) {
  auto floating = cast<FloatType>(getElementTypeOrSelf(value));
  Type type =
      withElement(value.getType(), builder.getIntegerType(floating.getWidth()));
  Value bits = arith::BitcastOp::create(builder, loc, type, value);
  Value key = flipNegative(builder, loc, bits);
  // A NaN wins in maximumf and minimumf and loses in maxnumf and minnumf: it is
  // above all numbers or below them.
  bool isNaNAbove = isa<arith::MaximumFOp, arith::MinNumFOp>(extremum);
  APInt nan = APFloat::getQNaN(floating.getFloatSemantics()).bitcastToAPInt();
  if (!isNaNAbove)
    nan.flipAllBits();
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  Value nanKey = createInteger(builder, loc, type, nan);
  return arith::SelectOp::create(builder, loc, isNaN, nanKey, key);
}

Value decodeKey(OpBuilder &builder, Location loc, Operation *extremum,
                Value key) {
  Type type =
      withElement(key.getType(), getElementTypeOrSelf(extremum->getResult(0)));
  return arith::BitcastOp::create(builder, loc, type,
                                  flipNegative(builder, loc, key));
}

Value combineKeys(OpBuilder &builder, Location loc, Operation *extremum,
                  Value lhs, Value rhs) {
  if (isMaximum(extremum))
    return arith::MaxSIOp::create(builder, loc, lhs, rhs);
  return arith::MinSIOp::create(builder, loc, lhs, rhs);
}

} // namespace sparse_autograd
