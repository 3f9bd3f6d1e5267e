//===- FloatRange.cpp - bounds of floating-point values -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/FloatRange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sparse_autograd;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr FloatRange anything{-infinity, infinity};
static constexpr FloatRange withinOne{-1, 1};

double FloatRange::getMagnitude() const {
  return std::max(std::abs(low), std::abs(high));
}

static FloatRange operator-(FloatRange a) { return {-a.high, -a.low}; }

static FloatRange operator+(FloatRange a, FloatRange b) {
  return {a.low + b.low, a.high + b.high};
}

static FloatRange operator*(FloatRange a, FloatRange b) {
  // A bound that is infinite is not taken: zero times it is zero.
  auto multiply = [](double x, double y) {
    return x == 0 || y == 0 ? 0 : x * y;
  };
  auto [low, high] =
      std::minmax({multiply(a.low, b.low), multiply(a.low, b.high),
                   multiply(a.high, b.low), multiply(a.high, b.high)});
  return {low, high};
}

static FloatRange join(FloatRange a, FloatRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

static FloatRange getMagnitudes(FloatRange a) { return {0, a.getMagnitude()}; }

/// The range of what `value` is an element of, or of what it is computed of.
/// Looks back over `depth` ops.
static FloatRange getRange(Value value, unsigned depth) {
  APFloat number(0.0);
  if (matchPattern(value, m_ConstantFloat(&number))) {
    double exact = number.convertToDouble();
    return number.isFinite() ? FloatRange{exact, exact} : anything;
  }
  if (depth == 0)
    return anything;
  --depth;
  if (auto element = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::GenericOp>(element.getOwner()->getParentOp());
    OpOperand *operand = op ? op.getMatchingOpOperand(element) : nullptr;
    return operand && op.isDpsInput(operand) ? getRange(operand->get(), depth)
                                             : anything;
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned number) {
    return getRange(op->getOperand(number), depth);
  };
  return llvm::TypeSwitch<Operation *, FloatRange>(op)
      .Case([&](linalg::GenericOp op) {
        OpOperand *init = op.getTiedOpOperand(cast<OpResult>(value));
        if (op.getNumReductionLoops() != 0 ||
            op.payloadUsesValueFromOperand(init))
          return anything;
        return getRange(op.getBody()->getTerminator()->getOperand(
                            cast<OpResult>(value).getResultNumber()),
                        depth);
      })
      .Case<math::CosOp, math::ErfOp, math::SinOp, math::TanhOp>(
          [&](auto) { return withinOne; })
      .Case<math::ExpOp, math::Exp2Op>([&](auto) {
        return FloatRange{0, operand(0).high <= 0 ? 1 : infinity};
      })
      .Case<math::AbsFOp>([&](auto) { return getMagnitudes(operand(0)); })
      .Case<arith::NegFOp>([&](auto) { return -operand(0); })
      .Case<arith::AddFOp>([&](auto) { return operand(0) + operand(1); })
      .Case<arith::SubFOp>([&](auto) { return operand(0) + -operand(1); })
      .Case<arith::MulFOp>([&](auto op) {
        FloatRange a = operand(0);
        return op.getLhs() == op.getRhs() ? getMagnitudes(a) * getMagnitudes(a)
                                          : a * operand(1);
      })
      .Case<arith::DivFOp>([&](auto) {
        FloatRange divisor = operand(1);
        return divisor.low > 0
                   ? operand(0) * FloatRange{1 / divisor.high, 1 / divisor.low}
                   : anything;
      })
      .Case<arith::MinimumFOp, arith::MaximumFOp>(
          [&](auto) { return join(operand(0), operand(1)); })
      .Case<arith::SelectOp>([&](auto) { return join(operand(1), operand(2)); })
      .Default(anything);
}

FloatRange sparse_autograd::getFloatRange(Value value) {
  // Each step may look at two operands.
  constexpr unsigned depth = 7;
  return getRange(value, depth);
}
