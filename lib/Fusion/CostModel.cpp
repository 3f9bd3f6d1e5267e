//===- CostModel.cpp - what fusion may touch and what it costs ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

using namespace mlir;

namespace sparse_autograd {

/// The cost of one operation of a body, in additions. The weights are those of
/// vector code: a polynomial for the exponential is about 16 additions long.
static int64_t getOpCost(Operation &op) {
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
    return 16;
  if (isa_and_nonnull<arith::ArithDialect>(op.getDialect()))
    return 1;
  // A random access, or an operation of somebody else's.
  return 8;
}

int64_t getBodyCost(linalg::LinalgOp op) {
  int64_t cost = 0;
  for (Operation &inner : *op.getBlock())
    cost += getOpCost(inner);
  return cost;
}

bool isMatrixProduct(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty() &&
         !dims->k.empty();
}

bool isFusible(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0 ||
      isMatrixProduct(op))
    return false;
  for (Value operand : op->getOperands())
    if (sparse_tensor::getSparseTensorEncoding(operand.getType()))
      return false;
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  // A body with an effect (a failing assertion) must run exactly as often as
  // it was written.
  for (Operation &inner : *op.getBlock())
    if (!isMemoryEffectFree(&inner) && !inner.hasTrait<OpTrait::IsTerminator>())
      return false;
  return true;
}

} // namespace sparse_autograd
