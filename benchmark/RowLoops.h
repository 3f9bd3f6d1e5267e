//===- RowLoops.h - rows of a sparse matrix, by hand --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops for reductions and softmax of the rows of a sparse matrix of f32: one
// pass over the rows, whose entries are vectors with masks where the processor
// has them, nothing allocated. What becomes of a NaN is left open but in sums.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_BENCHMARK_ROWLOOPS_H
#define SPARSEAUTOGRAD_BENCHMARK_ROWLOOPS_H

#include "Csr.h"

namespace loops {

/// The sum, the largest element and the logarithm of the sum of exponentials of
/// each row of `a`.
void rowSum(const Csr &a, float *y);
void rowMax(const Csr &a, float *y);
void rowLogSumExp(const Csr &a, float *y);
/// The same, and for the cotangent `dy` of `y` the gradient of `a`.
void rowLogSumExpGradient(const Csr &a, const float *dy, float *y, float *da);
/// The softmax of each row.
void softmax(const Csr &a, float *y);
/// The same, and for the cotangent `dy` of `y` the gradient of `a`.
void softmaxGradient(const Csr &a, const float *dy, float *y, float *da);

} // namespace loops

#endif // SPARSEAUTOGRAD_BENCHMARK_ROWLOOPS_H
