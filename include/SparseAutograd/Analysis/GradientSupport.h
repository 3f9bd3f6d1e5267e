//===- GradientSupport.h - where a gradient may be nonzero ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows a sparse gradient back through the derivative that computes it. Its
// support is that of a pattern, or of the rows that were read; what is of
// interest is whether something on the way has more elements: a dense tensor
// over the space of the gradient, which nothing else needs.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_GRADIENTSUPPORT_H
#define SPARSEAUTOGRAD_ANALYSIS_GRADIENTSUPPORT_H

#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// How a dense tensor comes to stand on the way to a gradient.
struct DensityPath {
  /// The op that makes it.
  mlir::Operation *entry;
  /// The ops from there to the gradient.
  llvm::SmallVector<mlir::Operation *> uses;
};

/// What a gradient takes at most, as sums and products of numbers and of
/// `nnz(k)`, the elements that argument k stores, and `dim(k, d)`, its extents.
struct GradientBound {
  /// Elements that it stores.
  std::string elements;
  /// Bytes of what is its own: of its values, and of the positions and
  /// coordinates that it does not share with an argument.
  std::string bytes;
};

class GradientSupport {
public:
  /// `otherResults` are the results of the derivative that are not sparse
  /// gradients: what they need is there anyway.
  GradientSupport(mlir::func::FuncOp derivative, mlir::ValueRange otherResults);

  /// The first dense tensor of floats, found from the sparse `gradient` back,
  /// that has all elements of its space and is made for sparse gradients
  /// alone; nothing if there is none. An elementwise op that is read once is
  /// computed where it is read: it is no tensor of its own. An operand that the
  /// region of an op does not read counts no more.
  std::optional<DensityPath> findDensity(mlir::Value gradient);

  /// The bound of the sparse `gradient`; nothing if its pattern comes from an
  /// op that bounds nothing.
  std::optional<GradientBound> getBound(mlir::Value gradient);

private:
  bool visitSparse(mlir::Value value);
  bool visitDense(mlir::Value value);
  bool visitStructured(mlir::linalg::LinalgOp op);
  bool visitYields(mlir::OpResult result);
  bool report(mlir::Operation *op);
  /// At most so many rows are stored, or indices there.
  std::optional<std::string> countRows(mlir::Value rowSparse);
  std::optional<std::string> countIndices(mlir::Value indices);

  mlir::func::FuncOp derivative;
  SparsePatterns patterns;
  llvm::DenseSet<mlir::Operation *> needed;
  llvm::DenseSet<mlir::Value> visited;
  /// While a gradient is followed: the ops from it on, and what was found.
  llvm::SmallVector<mlir::Operation *> path;
  std::optional<DensityPath> found;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_GRADIENTSUPPORT_H
