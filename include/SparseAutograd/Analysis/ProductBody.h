//===- ProductBody.h - what a product of matrices adds ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_PRODUCTBODY_H
#define SPARSEAUTOGRAD_ANALYSIS_PRODUCTBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// A sum c + s t or a difference c - s t, of floats.
struct ScaledSum {
  mlir::Value base, term;
  /// Null: 1. Otherwise a value from outside of the region.
  mlir::Value scale;
  bool isDifference = false;
};

/// Matches `value`, computed in `block`, as a sum whose base is an argument of
/// `block`; where both operands of an addition could be, the first is.
std::optional<ScaledSum> matchScaledSum(mlir::Block &block, mlir::Value value);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_PRODUCTBODY_H
