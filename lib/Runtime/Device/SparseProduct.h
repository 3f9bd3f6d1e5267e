//===- SparseProduct.h - Products with a sparse matrix ----------*- C++ -*-===//
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

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_SPARSEPRODUCT_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_SPARSEPRODUCT_H

#include "SparseAutograd/Runtime/DeviceABI.h"

namespace sparse_autograd {
namespace runtime {

/// A dense matrix by strides, in elements.
struct StridedMatrix {
  void *data;
  int64_t rows, columns;
  int64_t rowStride, columnStride;
};

/// A product with a sparse matrix s by rows (SpMM), x = beta x + alpha s y, or,
/// if it is sampled, one of dense matrices where s stores something (SDDMM),
/// s = beta s + alpha (x y). All extents are at least 1, and s stores
/// something.
struct SparseProduct {
  bool isSampled;
  /// SparseAutogradTensorElements: of values, of positions and coordinates.
  int32_t element, index;
  int64_t rows, columns, stored;
  const void *positions, *coordinates;
  void *values;
  double alpha, beta;
  StridedMatrix x, y;
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_SPARSEPRODUCT_H
