//===- CotangentSums.h - sums over elements of cotangents -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTSUMS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Makes sums over elements of cotangents depend on less, in `derivative`,
/// which was built just now and has its marks (semantics G14):
///
/// - Deviations from a mean, times what does not change along the sum, add up
///   to zero: they are left out.
/// - What each term is multiplied or divided by, and does not change along the
///   sum, is applied to the sum. Not in f16 and bf16, where the sum of large
///   cotangents that are divided by their number would not be finite.
///
/// Both give the cotangent of the rows of a layer norm, the sums over
/// w ct r + k (x - mean), as r times the sums of w ct, which wait for neither r
/// nor k: they are computed while the rows are gone through for these.
void simplifyCotangentSums(mlir::func::FuncOp derivative);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTSUMS_H
