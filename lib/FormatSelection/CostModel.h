//===- CostModel.h - what it costs to read a sparse tensor ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All costs are times of one multiplication and addition in an innermost loop,
// for each stored element of the tensor. They are rules of thumb. A copy is
// measured: it takes as long as products with 240 columns (20,000 x 20,000,
// 400,000 nonzeros, f32). The other constants are guesses, as are extents and
// numbers of iterations that are not known.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_FORMATSELECTION_COSTMODEL_H
#define SPARSEAUTOGRAD_LIB_FORMATSELECTION_COSTMODEL_H

#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace sparse_autograd {

class CostModel {
public:
  /// Without `parallel` every loop runs on one thread; with `forDevice` those
  /// that may run in parallel are kernels of a GPU, and so are copies.
  CostModel(bool parallel, bool forDevice);

  /// One run of `op`, whose sparse operands are `operand` and those of its
  /// pattern, if they were stored with `encoding`.
  double
  getRunCost(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
             mlir::sparse_tensor::SparseTensorEncodingAttr encoding) const;

  /// A copy to another order, and the values alone by a known list of where
  /// each goes.
  double getCopyCost() const { return forDevice ? 240 * share : 240; }
  double getReorderCost() const { return forDevice ? 12 * share : 12; }

  /// How often the body of `loop` runs.
  double getIterations(mlir::LoopLikeOpInterface loop) const;

private:
  bool forDevice;
  /// What is left of the cost of a loop that runs in parallel.
  double share;
};

/// The sparse operands of `op` if they have one pattern, which is read at the
/// same places, and dense results are made of them: then any order of levels
/// will do, if it is that of all of them.
llvm::SmallVector<mlir::OpOperand *> getFreeOperands(mlir::linalg::LinalgOp op,
                                                     SparsePatterns &patterns);

/// The encodings that tensors of `type` could have instead, one with each
/// dimension outermost, without its own; none for blocks, and where levels
/// could not change places. They store the same elements.
llvm::SmallVector<mlir::sparse_tensor::SparseTensorEncodingAttr>
getOtherOrders(mlir::RankedTensorType type);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_FORMATSELECTION_COSTMODEL_H
