//===- FusibleOps.cpp - what fusion may touch -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Fusion/Fusion.h"

#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

using namespace mlir;

namespace sparse_autograd {

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
