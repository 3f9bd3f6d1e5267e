//===- Packing24.h - Matrices to pack as 2:4 storage ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What packing by rows and by columns share: the matrices, where they go, and
// the blocks that are stored at a time. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACKING24_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACKING24_H

#include "Groups24.h"

#include <algorithm>

namespace sparse_autograd {
namespace runtime {
namespace pack24 {

/// A tile has four rows of four elements. The bits of a row of 16 tiles are one
/// number; by columns, 16 rows of tiles are 8 bytes of metadata.
constexpr int64_t tileSide = 4, bitsTiles = 16;
/// Rows of tiles and bytes of a row of a block.
constexpr int64_t blockTiles = 4 * bitsTiles, blockBytes = 2048;
/// Choices that a word of 64 bits has.
constexpr int64_t wordTiles = 4, wordColumns = wordTiles * tileSide;
/// Columns that are stored at a time: those of a line of the cache.
template <typename T>
constexpr int64_t stripColumns = 64 / sizeof(T);

/// One order of storage: a row of `groups` groups for each row of a matrix, or
/// for each of its columns.
struct Destination {
  void *values;
  uint8_t *coordinates;
  int64_t groups;
  /// Whether values are stored past the caches.
  bool isStreamed;

  /// Bytes are a row's own.
  bool hasWholeBytes() const { return groups % 2 == 0; }
};

/// Matrices to pack.
struct Packing {
  int64_t matrices, rows, columns;
  const void *input;
  /// Null: what is not zero is kept.
  const uint16_t *choice;
  /// `values` of the second is null if it is not asked for.
  Destination byRows, byColumns;

  int64_t tileRows() const { return (rows + tileSide - 1) / tileSide; }
  int64_t tileColumns() const { return (columns + tileSide - 1) / tileSide; }
  const uint16_t *getChoices(int64_t matrix, int64_t tileRow) const {
    return choice + (matrix * tileRows() + tileRow) * tileColumns();
  }
};

/// A part of a matrix that is stored at a time: rows of tiles, and columns that
/// begin a strip.
template <typename T>
struct Block {
  const Packing *packing;
  int64_t matrix, tileRow, tileRows, column, columns;

  const T *getInput(int64_t row) const {
    return static_cast<const T *>(packing->input) +
           (matrix * packing->rows + row) * packing->columns;
  }
  /// The rows of a row of tiles that are there.
  int64_t countRows(int64_t tileRow) const {
    return std::min(tileSide, packing->rows - tileRow * tileSide);
  }
  /// The first group that a column stores.
  int64_t getGroup(int64_t column) const {
    return (matrix * packing->columns + column) * packing->byColumns.groups +
           tileRow;
  }
  T *getValues(int64_t column) const {
    return static_cast<T *>(packing->byColumns.values) +
           groupStored * getGroup(column);
  }
  /// Where bytes are a column's own.
  uint8_t *getCoordinates(int64_t column) const {
    return packing->byColumns.coordinates + getGroup(column) / 2;
  }
  int64_t strips() const {
    return (columns + stripColumns<T> - 1) / stripColumns<T>;
  }
};

} // namespace pack24
} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACKING24_H
