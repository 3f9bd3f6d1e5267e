//===- FloatRange.h - bounds of floating-point values -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_FLOATRANGE_H
#define SPARSEAUTOGRAD_ANALYSIS_FLOATRANGE_H

#include "mlir/IR/Value.h"

namespace sparse_autograd {

/// Bounds of a number; either may be infinite.
struct FloatRange {
  double low;
  double high;

  /// The largest magnitude in the range.
  double getMagnitude() const;
};

/// What is known of `value`, a float or a tensor of floats, from how it is
/// computed: that a sine is within one, a square not negative. It holds for
/// each element that is not a NaN. A few ops are looked back, through bodies of
/// elementwise `linalg.generic`.
FloatRange getFloatRange(mlir::Value value);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_FLOATRANGE_H
