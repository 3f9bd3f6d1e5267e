//===- DenseKernelLoops.cpp - Blocks of a product by loops ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of a dense product where no BLAS is present: tiles of C in
// registers, over panels of B that are copied so that they are read in order.
//
//===----------------------------------------------------------------------===//

#include "DenseKernel.h"

#include <algorithm>

namespace sparse_autograd {
namespace runtime {

/// A tile is 4 rows of C and 32 bytes times 2 of columns; a panel is 256 rows
/// of B of that width, 16 KiB.
constexpr int64_t tileRows = 4;
constexpr int64_t tileBytes = 64;
constexpr int64_t panelRows = 256;

template <typename T>
static void scaleBlock(T beta, T *c, int64_t leading, int64_t m, int64_t n) {
  if (beta == T(1))
    return;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      c[i * leading + j] = beta == T(0) ? T(0) : beta * c[i * leading + j];
}

template <typename T>
static void multiply(const KernelArguments<T> &x) {
  constexpr int64_t width = tileBytes / sizeof(T);
  alignas(tileBytes) T panel[panelRows * width];
  scaleBlock(x.beta, x.c, x.cLeading, x.m, x.n);
  int64_t aRow = x.aTransposed ? 1 : x.aLeading;
  int64_t aColumn = x.aTransposed ? x.aLeading : 1;
  int64_t bRow = x.bTransposed ? 1 : x.bLeading;
  int64_t bColumn = x.bTransposed ? x.bLeading : 1;

  for (int64_t p0 = 0; p0 < x.k; p0 += panelRows) {
    int64_t depth = std::min(panelRows, x.k - p0);
    for (int64_t j0 = 0; j0 < x.n; j0 += width) {
      int64_t columns = std::min(width, x.n - j0);
      const T *b = x.b + p0 * bRow + j0 * bColumn;
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t j = 0; j < width; ++j)
          panel[p * width + j] = j < columns ? b[p * bRow + j * bColumn] : T(0);

      for (int64_t i0 = 0; i0 < x.m; i0 += tileRows) {
        int64_t rows = std::min(tileRows, x.m - i0);
        // Rows beyond the last read the last one again and are not stored.
        const T *a[tileRows];
        for (int64_t i = 0; i < tileRows; ++i)
          a[i] = x.a + (i0 + std::min(i, rows - 1)) * aRow + p0 * aColumn;
        T tile[tileRows][width] = {};
        for (int64_t p = 0; p < depth; ++p)
          for (int64_t i = 0; i < tileRows; ++i)
            for (int64_t j = 0; j < width; ++j)
              tile[i][j] += a[i][p * aColumn] * panel[p * width + j];
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j)
            x.c[(i0 + i) * x.cLeading + j0 + j] += x.alpha * tile[i][j];
      }
    }
  }
}

void multiplyByLoops(const KernelArguments<float> &arguments) {
  multiply(arguments);
}

void multiplyByLoops(const KernelArguments<double> &arguments) {
  multiply(arguments);
}

} // namespace runtime
} // namespace sparse_autograd
