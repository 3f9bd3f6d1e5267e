//===- KernelNest.h - the iterations of a kernel ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_KERNELNEST_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_KERNELNEST_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// The parallel loops whose iterations are those of one kernel: an
/// `scf.parallel`, or loops directly within one another, of which all but the
/// last do nothing but reads around the next one.
class KernelNest {
public:
  /// Of a loop for which `isParallelLoop` holds.
  explicit KernelNest(mlir::Operation *outermost);

  mlir::Operation *getOutermost() const { return outermost; }
  /// The loop of the last dimension.
  mlir::Operation *getInnermost() const {
    return loops.empty() ? outermost : mlir::scf::ForOp(loops.back());
  }
  mlir::ArrayRef<mlir::scf::ForOp> getLoops() const { return loops; }
  mlir::ArrayRef<mlir::Value> getLowerBounds() const { return lowerBounds; }
  mlir::ArrayRef<mlir::Value> getUpperBounds() const { return upperBounds; }
  mlir::ArrayRef<mlir::Value> getSteps() const { return steps; }
  mlir::ArrayRef<mlir::Value> getVariables() const { return variables; }
  /// What is done in each iteration.
  mlir::Block *getBody() const;
  /// Whether `value` is there before the kernel.
  bool isOutside(mlir::Value value) const;

private:
  void add(mlir::Value lower, mlir::Value upper, mlir::Value step,
           mlir::Value variable);

  mlir::Operation *outermost;
  /// Empty of an `scf.parallel`.
  mlir::SmallVector<mlir::scf::ForOp> loops;
  mlir::SmallVector<mlir::Value> lowerBounds, upperBounds, steps, variables;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_KERNELNEST_H
