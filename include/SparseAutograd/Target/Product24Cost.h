//===- Product24Cost.h - when a 2:4 product is worth it ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time of a product with a 2:4 matrix W of m x k elements and a dense
// matrix of k x n, by the values that W stores and as a dense product. The
// compiler asks where extents are constants, and says the answer in a remark;
// the runtime asks otherwise. Includes nothing of LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TARGET_PRODUCT24COST_H
#define SPARSEAUTOGRAD_TARGET_PRODUCT24COST_H

#include <cstdint>

namespace sparse_autograd {

/// Nanoseconds of a core with AVX-512, fitted to the times of 200 products that
/// benchmark/product_24.py draws (Zen 5): ratios of them decide, not their
/// size.
struct Product24Rates {
  /// Of a step of 32 terms: for four rows of W, of f32 and of bf16, and for
  /// each column of B that they are multiplied with.
  double step = 1.87, narrowStep = 1.93, stepColumn = 0.65;
  /// To add up the lanes of four sums.
  double sums = 4;
  /// A row beside those of tiles of four, as a share of a tile.
  double single = 0.41;
  /// Of an element of B that is copied for the values that are stored.
  double copied = 0.06;
  /// Of an element of W that is expanded and packed, of a row of it, of an
  /// element of B that is packed, and of a multiplication of a dense product,
  /// which computes rows by four.
  double expanded = 0.31, row = 9.4, packed = 0.13, multiplied = 1 / 59.5;
  /// Of an element of C.
  double stored = 0.0135;
  /// Of a call by stored values, and of a dense one.
  double call = 300, denseCall = 360;
};
inline constexpr Product24Rates product24Rates;

/// Nanoseconds.
struct Product24Cost {
  double sparse, dense;
};

/// `valueBytes` are those of an element of W; the dense product is one of f32,
/// of rows that are expanded first.
constexpr Product24Cost estimateProduct24(int64_t m, int64_t n, int64_t k,
                                          int64_t valueBytes) {
  const Product24Rates &rates = product24Rates;
  double rows = static_cast<double>(m), columns = static_cast<double>(n),
         terms = static_cast<double>(k);
  // Whole tiles of four rows, and what is left; parts that are begun.
  int64_t rowTiles = m / 4, rowParts = (m + 3) / 4;
  int64_t columnParts = (n + 3) / 4, termParts = (k + 31) / 32;
  double tiles =
      static_cast<double>(rowTiles) + rates.single * static_cast<double>(m % 4);
  double step = valueBytes < 4 ? rates.narrowStep : rates.step;
  double computed = tiles * (columns * rates.sums +
                             static_cast<double>(termParts) *
                                 (step * static_cast<double>(columnParts) +
                                  rates.stepColumn * columns));
  auto denseRows = static_cast<double>(4 * rowParts);
  return {rates.call + rates.copied * columns * terms + computed,
          rates.denseCall + rates.expanded * rows * terms + rates.row * rows +
              rates.packed * columns * terms +
              rates.multiplied * denseRows * columns * terms +
              rates.stored * rows * columns};
}

constexpr bool isSparseFaster(const Product24Cost &cost) {
  return cost.sparse < cost.dense;
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TARGET_PRODUCT24COST_H
