//===- ArithmeticCost.cpp - what an operation costs to compute ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ArithmeticCost.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace sparse_autograd;

int64_t sparse_autograd::getArithmeticCost(Operation &op) {
  if (op.hasTrait<OpTrait::IsTerminator>() ||
      op.hasTrait<OpTrait::ConstantLike>() || isa<linalg::IndexOp>(op))
    return 0;
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
          arith::RemSIOp, arith::RemUIOp, math::SqrtOp, math::RsqrtOp>(op))
    return 4;
  if (isa<math::AbsFOp, math::FmaOp, math::CopySignOp, math::FloorOp,
          math::CeilOp, math::AbsIOp>(op))
    return 1;
  if (isa<math::PowFOp>(op))
    return 48;
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()))
    return elementaryFunctionCost;
  if (isa_and_nonnull<arith::ArithDialect>(op.getDialect()))
    return 1;
  // The tile of 4 x 4 elements that an element of a choice is made of, and a
  // shift of one.
  if (isa<Choose24Op>(op))
    return 512;
  if (isa<Mask24Op>(op))
    return 1;
  // A random access, or an operation of somebody else's.
  return 8;
}

int64_t sparse_autograd::getCostBesideMemory(Operation &op) {
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp>(op))
    return 2;
  if (isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp,
          math::SqrtOp>(op))
    return 0;
  return isa_and_nonnull<math::MathDialect>(op.getDialect()) ? 8 : 0;
}

int64_t sparse_autograd::getBodyCost(linalg::LinalgOp op) {
  int64_t cost = 0;
  for (Operation &inner : *op.getBlock())
    cost += getArithmeticCost(inner);
  return cost;
}
