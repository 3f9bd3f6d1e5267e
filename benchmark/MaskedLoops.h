//===- MaskedLoops.h - loops written by hand --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiled programs are compared with: forward and backward of a
// masked operation over the rows of a matrix in one function, as somebody would
// write it who cares about its speed. A row is read from memory once, nothing
// is allocated, and the file is compiled with -O3 -march=native and vector
// forms of the elementary functions.
//
// `x`, `mask` and the gradient `dx` have `rows` times `columns` elements,
// densely stored. A row in which nothing is selected has the value that
// docs/semantics.md states and gradient zero.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_BENCHMARK_MASKEDLOOPS_H
#define SPARSEAUTOGRAD_BENCHMARK_MASKEDLOOPS_H

#include <cstdint>

namespace loops {

/// What every loop takes: a matrix and the mask of its selected elements.
struct Masked {
  const float *x;
  const bool *mask;
  int64_t rows;
  int64_t columns;
};

/// The sum of the means of the rows, and its gradient.
float mean(const Masked &input, float *__restrict dx);

/// The sum of the maxima of the rows, and its gradient, which ties share.
float max(const Masked &input, float *__restrict dx);

/// The sum of log(sum(exp(x))) of the rows, and its gradient.
float logsumexp(const Masked &input, float *__restrict dx);

/// The softmax `y` of each row and, for its cotangent `dy`, that of x.
void softmax(const Masked &input, const float *__restrict dy,
             float *__restrict y, float *__restrict dx);

} // namespace loops

#endif // SPARSEAUTOGRAD_BENCHMARK_MASKEDLOOPS_H
