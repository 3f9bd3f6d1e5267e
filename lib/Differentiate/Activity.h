//===- Activity.h - which values have derivatives ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_ACTIVITY_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_ACTIVITY_H

#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseSet.h"

namespace sparse_autograd {

/// Which values of a function are *active*: they depend on an input through
/// floating values, and an output depends on them in the same way.
///
/// Dependence is by data flow alone: an op that ignores an operand, or whose
/// derivative is zero, counts as depending on it. Ops with regions that say how
/// control flows (RegionBranchOpInterface) are followed value by value; others
/// depend on all that their regions read.
class ActivityAnalysis {
public:
  ActivityAnalysis(mlir::Region &region, mlir::ValueRange inputs,
                   mlir::ValueRange outputs);

  bool isActive(mlir::Value value) const {
    return varied.contains(value) && useful.contains(value);
  }

  /// Whether an output depends on `value`.
  bool isUseful(mlir::Value value) const { return useful.contains(value); }

  /// Whether `value` was part of the analysed program.
  bool isKnown(mlir::Value value) const { return known.contains(value); }

  /// Values of the same data flow that lead from an input to `value`, the
  /// input last. Empty if `value` does not depend on one.
  llvm::SmallVector<mlir::Value> pathFromInput(mlir::Value value) const;
  /// Notes the values of that path.
  void attachPath(mlir::InFlightDiagnostic &diagnostic,
                  mlir::Value value) const;

private:
  bool addVaried(mlir::Value value, mlir::Value because);
  bool addUseful(mlir::Value value);
  bool propagateForward(mlir::Operation *op);
  bool propagateBackward(mlir::Operation *op);

  llvm::DenseSet<mlir::Value> known, varied, useful;
  /// For a varied value, the value that made it so; null for an input.
  llvm::DenseMap<mlir::Value, mlir::Value> cause;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_ACTIVITY_H
