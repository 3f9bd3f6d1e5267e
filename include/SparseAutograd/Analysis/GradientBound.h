//===- GradientBound.h - what a gradient takes at most ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_GRADIENTBOUND_H
#define SPARSEAUTOGRAD_ANALYSIS_GRADIENTBOUND_H

#include "SparseAutograd/Analysis/SupportAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// What a gradient takes at most, as sums and products of numbers and of
/// `nnz(k)`, the elements that the sparse argument k stores, `count(k)`, those
/// that are true in the mask k, and `dim(k, d)`, extents of argument k.
struct GradientBound {
  /// Elements of a sparse gradient that are stored; of a dense one, that may
  /// differ from zero.
  std::string elements;
  /// Bytes of what is its own: of its values, and of the positions and
  /// coordinates that it does not share with an argument.
  std::string bytes;
};

/// Bounds the gradients of a derivative.
class GradientBounds {
public:
  explicit GradientBounds(mlir::func::FuncOp derivative)
      : derivative(derivative) {}

  /// The bound of `gradient`, a tensor, by argument `argument`; nothing if it
  /// is sparse and its pattern comes from an op that bounds nothing.
  std::optional<GradientBound> of(mlir::Value gradient, unsigned argument);

private:
  using Count = std::optional<std::string>;
  Count countElements(const ElementSet &set, mlir::ArrayRef<std::string> shape);
  Count countRows(mlir::Value rowSparse);
  Count countIndices(mlir::Value indices);

  mlir::func::FuncOp derivative;
  SupportAnalysis supports;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_GRADIENTBOUND_H
