//===- ComparedValues.h - what must be computed once ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_COMPAREDVALUES_H
#define SPARSEAUTOGRAD_ANALYSIS_COMPAREDVALUES_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace sparse_autograd {

/// Whether `op` asks if its operands are equal, or not.
bool isEqualityComparison(mlir::arith::CmpFOp op);

/// The ops of a program whose results are compared for equality in the end, as
/// the elements that a max reduces are with the max by its adjoint. What rounds
/// in other ways in another loop, as a vector of exponentials and a single one
/// do, must not be computed a second time for one side of such a comparison: no
/// element would equal the max.
class ComparedValues {
public:
  /// Of the comparisons in `program`, which may be in several regions.
  explicit ComparedValues(llvm::ArrayRef<mlir::Region *> program);

  /// Whether `op` must be computed once.
  bool isOnce(mlir::Operation *op) const;

  /// Whether a comparison depends on `op`; says that it does; forgets an op
  /// that is gone, before another comes to live where it was.
  bool contains(mlir::Operation *op) const { return compared.contains(op); }
  void insert(mlir::Operation *op) { compared.insert(op); }
  void forget(mlir::Operation *op) { compared.erase(op); }

private:
  /// The ops that a comparison depends on.
  llvm::DenseSet<mlir::Operation *> compared;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_COMPAREDVALUES_H
