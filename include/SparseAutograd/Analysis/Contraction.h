//===- Contraction.h - structured ops that sum products ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contractions: matrix products with batches, several dimensions of a kind,
// scales and conversions, named or generic, on tensors or buffers. The one
// matcher of them for differentiation, fusion, libraries and kernels; which of
// them a target computes how is a matter of ContractionStrategies.h.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_CONTRACTION_H
#define SPARSEAUTOGRAD_ANALYSIS_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// A structured op that computes
///
///     out(batch, m, n) += scale * sum over k of
///                         weights(...) * left(batch, m, k) * right(batch, n,
///                         k)
///
/// in its only output. Any kind of dimension may be absent, and each factor may
/// be converted to another type where it is read.
struct Contraction {
  mlir::linalg::LinalgOp op;
  /// The loops of each kind, by `linalg::inferContractionDims` of the factors
  /// and the output.
  mlir::linalg::ContractionDimensions dims;
  /// The factor that ranges over m, and the one that ranges over n.
  mlir::OpOperand *left, *right;
  /// Further inputs that each term is multiplied by; no k is among their
  /// dimensions.
  mlir::SmallVector<mlir::OpOperand *, 2> weights;
  /// What the product of the factors is multiplied by, from outside of the
  /// region; null: 1.
  mlir::Value scale;
  /// Whether terms are subtracted.
  bool isDifference = false;
  /// The types in which the factors are multiplied and the terms added.
  mlir::Type productType, sumType;
  /// Whether the body converts to a narrower type: a factor, a term, or the sum
  /// after each addition.
  bool narrows = false;

  mlir::Type getFactorType(const mlir::OpOperand *factor) const {
    return mlir::getElementTypeOrSelf(factor->get().getType());
  }
  mlir::Type getResultType() const {
    mlir::linalg::LinalgOp structured = op;
    return mlir::getElementTypeOrSelf(
        structured.getDpsInits().front().getType());
  }

  /// Whether there is a matrix on both sides, neither a vector nor a number.
  bool isOfMatrices() const {
    return !dims.m.empty() && !dims.n.empty() && !dims.k.empty();
  }

  /// Whether each operand is indexed by loops, each of which is m, n, k or
  /// batch.
  bool hasPlainLoops() const;

  /// Whether the factors, at most extended, are multiplied in the type of the
  /// result, in which the terms are added, and nothing else is done: the
  /// product that a BLAS computes.
  bool isPlainProduct() const;
};

/// Matches `op` as a contraction of two different inputs, which are floats,
/// integers, complex numbers or booleans. Anything else in its body is dead.
std::optional<Contraction> matchContraction(mlir::linalg::LinalgOp op);

/// Whether `op` is a contraction that sums products, over one loop at least.
bool isContraction(mlir::linalg::LinalgOp op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_CONTRACTION_H
