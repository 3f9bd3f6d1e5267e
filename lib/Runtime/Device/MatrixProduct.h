//===- MatrixProduct.h - Contractions as products of matrices ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_MATRIXPRODUCT_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_MATRIXPRODUCT_H

#include "SparseAutograd/Runtime/DeviceABI.h"

namespace sparse_autograd {
namespace runtime {

/// A loop as libraries have them, once where there is none.
struct ProductLoop {
  int64_t extent = 1;
  int64_t strides[3] = {}; ///< in a, b and c, in elements
};

/// Loops that one call of a library has no room for, at most.
constexpr int maximalOuterLoops = 8;

/// c(m, n) = beta c(m, n) + alpha sum over k of a(m, k) b(k, n), for each
/// iteration of `batch` and of the `outer` loops, which are of different
/// elements of c. All extents are at least 1, no stride is negative.
struct MatrixProduct {
  int32_t factorElement; ///< a SparseAutogradTensorElement
  int32_t resultElement;
  double alpha, beta;
  const void *a, *b;
  void *c;
  ProductLoop m, n, k, batch;
  int outerCount = 0;
  ProductLoop outer[maximalOuterLoops];
};

/// Sorts loops, of which none has no iterations, into those of `product`;
/// several become one where their elements lie as those of one. Returns whether
/// it is a product of matrices.
bool findMatrixProduct(int64_t loopCount,
                       const SparseAutogradContractionLoop *loops,
                       MatrixProduct &product);

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_MATRIXPRODUCT_H
