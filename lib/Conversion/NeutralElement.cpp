//===- NeutralElement.cpp - what a combiner does not change by ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NeutralElement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

TypedAttr sparse_autograd::getNeutralElement(Operation *combiner) {
  Type type = getElementTypeOrSelf(combiner->getResult(0));
  Builder builder(combiner->getContext());
  auto floating = dyn_cast<FloatType>(type);
  auto makeFloat = [&](auto make) -> TypedAttr {
    return builder.getFloatAttr(type, make(floating.getFloatSemantics()));
  };
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto makeInteger = [&](const APInt &value) -> TypedAttr {
    return builder.getIntegerAttr(type, value);
  };
  return TypeSwitch<Operation *, TypedAttr>(combiner)
      // Adding -0.0 changes nothing; adding 0.0 turns -0.0 into 0.0.
      .Case([&](arith::AddFOp) {
        return makeFloat(
            [](auto &s) { return APFloat::getZero(s, /*Negative=*/true); });
      })
      .Case([&](arith::MulFOp) -> TypedAttr {
        return builder.getFloatAttr(type, 1.0);
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) {
        return makeFloat(
            [](auto &s) { return APFloat::getInf(s, /*Negative=*/true); });
      })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) {
        return makeFloat([](auto &s) { return APFloat::getInf(s); });
      })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return makeInteger(APInt::getZero(width)); })
      .Case([&](arith::MulIOp) { return makeInteger(APInt(width, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](auto) { return makeInteger(APInt::getAllOnes(width)); })
      .Case([&](arith::MaxSIOp) {
        return makeInteger(APInt::getSignedMinValue(width));
      })
      .Case([&](arith::MinSIOp) {
        return makeInteger(APInt::getSignedMaxValue(width));
      })
      .Default([](Operation *) { return TypedAttr(); });
}
