//===- GradientDensity.h - how a sparse gradient becomes dense --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows a sparse gradient back through the derivative that computes it, to a
// dense tensor over the space of the gradient, which nothing else needs.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_GRADIENTDENSITY_H
#define SPARSEAUTOGRAD_ANALYSIS_GRADIENTDENSITY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// How a dense tensor comes to stand on the way to a gradient.
struct DensityPath {
  /// The op that makes it.
  mlir::Operation *entry;
  /// The ops from there to the gradient.
  llvm::SmallVector<mlir::Operation *> uses;
};

/// Finds dense tensors on the way to sparse gradients.
class GradientDensity {
public:
  /// `otherResults` are the results of the derivative that are not sparse
  /// gradients: what they need is there anyway.
  GradientDensity(mlir::func::FuncOp derivative, mlir::ValueRange otherResults);

  /// The first dense tensor of floats, found from the sparse `gradient` back,
  /// that has all elements of its space and is made for sparse gradients
  /// alone; nothing if there is none. An elementwise op that is read once is
  /// computed where it is read: it is no tensor of its own. An operand that the
  /// region of an op does not read counts no more.
  std::optional<DensityPath> find(mlir::Value gradient);

private:
  bool visitSparse(mlir::Value value);
  bool visitDense(mlir::Value value);
  /// A list of what a sparse tensor stores is as long as what it stores.
  bool visitList(mlir::Value value);
  /// A sparse tensor, or a list of what one stores.
  bool visitStored(mlir::Value value);
  /// What `op` reads; of other than sparse tensors, what has all elements of
  /// the result's space, by `visitOther`.
  bool visitStructured(mlir::linalg::LinalgOp op,
                       llvm::function_ref<bool(mlir::Value)> visitOther);
  bool visitYields(mlir::OpResult result);
  bool report(mlir::Operation *op);

  mlir::func::FuncOp derivative;
  llvm::DenseSet<mlir::Operation *> needed;
  llvm::DenseSet<mlir::Value> visited;
  /// While a gradient is followed: the ops from it on, and what was found.
  llvm::SmallVector<mlir::Operation *> path;
  std::optional<DensityPath> found;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_GRADIENTDENSITY_H
