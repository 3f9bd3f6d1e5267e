//===- ScalarsToAssertions.cpp - what is computed of scalars --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/TensorToAssertions/TensorToAssertions.h"

#include "../Assertions.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_SCALARSTOASSERTIONS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

static bool isSignedDivision(Operation *op) {
  return isa<arith::CeilDivSIOp, arith::DivSIOp, arith::FloorDivSIOp,
             arith::RemSIOp>(op);
}

static bool isDivision(Operation *op) {
  return isSignedDivision(op) ||
         isa<arith::CeilDivUIOp, arith::DivUIOp, arith::RemUIOp>(op);
}

/// Whether `value` is one at least, whatever it is computed of.
static bool isPositive(Value value) {
  auto isPositiveConstant = [](Value operand) {
    APInt number;
    return matchPattern(operand, m_ConstantInt(&number)) &&
           number.isStrictlyPositive();
  };
  Operation *op = value.getDefiningOp();
  return isPositiveConstant(value) ||
         (isa_and_nonnull<arith::MaxSIOp>(op) &&
          llvm::any_of(op->getOperands(), isPositiveConstant));
}

/// Whether `value` is another number than `number`.
static Value isOther(ImplicitLocOpBuilder &b, Value value,
                     const APInt &number) {
  Value constant =
      arith::ConstantOp::create(b, b.getIntegerAttr(value.getType(), number));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, constant);
}

/// Asserts that the divisor of `op` is not zero. A divisor that is the same for
/// all elements of a loop is looked at before it, and may be zero if there are
/// none.
static void assertDivisor(Operation *op, Value divisor, unsigned width) {
  auto loop = dyn_cast<linalg::LinalgOp>(op->getParentOp());
  bool isOutside =
      loop && !loop->isAncestor(divisor.getParentRegion()->getParentOp());
  ImplicitLocOpBuilder b(op->getLoc(), isOutside ? loop : op);
  Value holds = isOther(b, divisor, APInt::getZero(width));
  if (isOutside)
    for (Range range : loop.createLoopRanges(b, b.getLoc())) {
      if (getConstantIntValue(range.size).value_or(0) != 0)
        continue;
      Value extent = getValueOrCreateConstantIndexOp(b, b.getLoc(), range.size);
      Value isEmpty =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, extent,
                                arith::ConstantIndexOp::create(b, 0));
      holds = arith::OrIOp::create(b, holds, isEmpty);
    }
  cf::AssertOp::create(
      b, holds, makeAssertionMessage(op, "the divisor must not be zero"));
}

/// Asserts that `op` does not divide the smallest integer by -1.
static void assertQuotient(Operation *op, Value divisor, unsigned width) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value holds = arith::OrIOp::create(
      b, isOther(b, divisor, APInt::getAllOnes(width)),
      isOther(b, op->getOperand(0), APInt::getSignedMinValue(width)));
  cf::AssertOp::create(
      b, holds,
      makeAssertionMessage(op,
                           "the smallest integer must not be divided by -1"));
}

static void assertDivision(Operation *op) {
  Value divisor = op->getOperand(1);
  if (isPositive(divisor))
    return;
  unsigned width = ConstantIntRanges::getStorageBitwidth(divisor.getType());
  assertDivisor(op, divisor, width);
  if (isSignedDivision(op))
    assertQuotient(op, divisor, width);
}

/// Asserts that the steps of `loop` are positive: it would not end.
static void assertSteps(LoopLikeOpInterface loop) {
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!steps)
    return;
  for (OpFoldResult step : *steps) {
    auto value = dyn_cast<Value>(step);
    if (!value || isPositive(value))
      continue;
    // Before what a derivative computes of the number of iterations.
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    b.setInsertionPointToStart(loop->getBlock());
    if (value.getParentBlock() == loop->getBlock())
      b.setInsertionPointAfterValue(value);
    Value zero =
        arith::ConstantOp::create(b, b.getIntegerAttr(value.getType(), 0));
    Value holds =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, value, zero);
    cf::AssertOp::create(
        b, holds, makeAssertionMessage(loop, "the step must be positive"));
  }
}

namespace {
struct ScalarsToAssertionsPass
    : sparse_autograd::impl::ScalarsToAssertionsBase<ScalarsToAssertionsPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (isInStructuredRegion(op) && needsVerification(op))
        assertVerified(op);
      else if (isDivision(op) && op->getResult(0).getType().isIntOrIndex())
        assertDivision(op);
      else if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
        assertSteps(loop);
    });
  }
};
} // namespace
