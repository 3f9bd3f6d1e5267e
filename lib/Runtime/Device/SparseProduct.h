//===- SparseProduct.h - Products with a sparse matrix ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products that libraries of a device may compute. Internal to the runtime.
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

/// A sparse matrix by rows (CSR).
struct CsrMatrix {
  int64_t rows, columns, stored;
  const void *positions, *coordinates, *values;
};

/// A product of two of them (SpGEMM). All extents are at least 1, and both
/// store something.
struct SparsePairProduct {
  /// SparseAutogradTensorElements: of values, of positions and coordinates.
  int32_t element, index;
  CsrMatrix a, b;
};

/// Such a product that is computed and not stored yet. Its destructor, in the
/// entry that has begun it, releases what it has taken, and leaves the last
/// error as it is.
struct BegunProduct {
  virtual ~BegunProduct() = default;
  /// Stores the product in lists of the program, in the order of the stream.
  /// Called once.
  virtual int32_t end(void *positions, void *coordinates, void *values) = 0;

  int64_t stored = 0; ///< at least 1
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_SPARSEPRODUCT_H
