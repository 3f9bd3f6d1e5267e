//===- ProductLoops.h - products written by hand ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops for products with a sparse matrix of f32 in CSR, for a constant number
// of columns: rows of the result in registers, fma, nothing allocated.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_BENCHMARK_PRODUCTLOOPS_H
#define SPARSEAUTOGRAD_BENCHMARK_PRODUCTLOOPS_H

#include "Csr.h"

namespace loops {

/// The loops for one number of columns. All dense matrices are row-major.
struct Products {
  int64_t width;
  /// c = a b.
  void (*product)(const Csr &a, const float *b, float *c);
  /// c = transpose(a) b.
  void (*transposed)(const Csr &a, const float *b, float *c);
  /// The values of x transpose(y) where `a` stores something.
  void (*sampled)(const Csr &a, const float *x, const float *y, float *values);
  /// c = a b, and for the cotangent dc of c the gradients of a and b, in one
  /// pass over the entries.
  void (*gradients)(const Csr &a, const float *b, const float *dc, float *c,
                    float *da, float *db);
};

/// Those for `width` columns; null if there are none.
const Products *getProducts(int64_t width);

} // namespace loops

#endif // SPARSEAUTOGRAD_BENCHMARK_PRODUCTLOOPS_H
