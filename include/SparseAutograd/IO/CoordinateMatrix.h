//===- CoordinateMatrix.h - Sparse matrices by coordinates ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_COORDINATEMATRIX_H
#define SPARSEAUTOGRAD_IO_COORDINATEMATRIX_H

#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace sparse_autograd::io {

/// A `rows` x `columns` matrix by the coordinates of its stored entries, which
/// are sorted by row, then column, each coordinate at most once; explicit zeros
/// are kept. Indices count from 0 and are in range.
struct CoordinateMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<int64_t> rowIndices;
  std::vector<int64_t> columnIndices;
  /// One value an entry; empty when the file holds a pattern only.
  std::vector<double> values;
  /// The values instead, if they are integers of which one is not exact as an
  /// f64.
  std::vector<int64_t> integers;
  bool isPattern = false;

  int64_t getNumEntries() const { return rowIndices.size(); }
  /// The value of an entry, rounded if it is an integer; 1 in a pattern.
  double getValue(int64_t entry) const {
    return isPattern          ? 1.0
           : integers.empty() ? values[entry]
                              : static_cast<double>(integers[entry]);
  }
};

/// What to do with a coordinate that a file gives more than once.
enum class Duplicates {
  Refuse,  ///< an error that names both places
  Coalesce ///< the values are summed in the order of the file
};

/// The values as a dense rows x columns array of `type` (F32 or F64), zero
/// where nothing is stored; a pattern gives ones. Refused when the array would
/// exceed `limits.arrayBytes`, before memory is asked for. `name` is for
/// diagnostics.
llvm::Expected<DenseArray> expandValues(const CoordinateMatrix &matrix,
                                        ElementType type,
                                        const SizeLimits &limits,
                                        llvm::StringRef name);

/// Collects entries in the order of a file and makes the sorted matrix: the one
/// place where the rule for duplicates is.
class CoordinateBuilder {
public:
  /// Bytes that one entry takes while it is collected; a reader multiplies it
  /// with the count that a file claims before it reserves.
  static constexpr uint64_t bytesPerEntry = 32;

  /// `base` is what the file's own indices count from (0 or 1), for
  /// diagnostics.
  CoordinateBuilder(llvm::StringRef file, int64_t base)
      : file(file), base(base) {}

  /// Reserves space for `count` entries, or says why it cannot be had.
  llvm::Error reserve(uint64_t count, const SizeLimits &limits);

  /// Adds the entry that stands on `line`. Indices count from 0.
  void add(int64_t row, int64_t column, double value, int64_t line) {
    entries.push_back({row, column, value, line});
  }

  /// As add, of a file of integers, all of whose entries are added so.
  void addInteger(int64_t row, int64_t column, int64_t value, int64_t line) {
    areIntegers = true;
    add(row, column, llvm::bit_cast<double>(value), line);
  }

  uint64_t getNumEntries() const { return entries.size(); }

  /// Sorts, applies the rule for duplicates, and moves the result out.
  llvm::Expected<CoordinateMatrix> build(int64_t rows, int64_t columns,
                                         bool isPattern, Duplicates duplicates,
                                         const SizeLimits &limits);

  /// As above, with the ids that rows and columns had in the file for
  /// diagnostics.
  void setIds(const std::vector<int64_t> *rows,
              const std::vector<int64_t> *columns) {
    rowIds = rows;
    columnIds = columns;
  }

private:
  struct Entry {
    int64_t row;
    int64_t column;
    double value;
    int64_t line;
  };

  /// Whether integers must stay such; else they become values.
  bool keepsIntegers();
  llvm::Error addToSum(CoordinateMatrix &matrix, const Entry &entry) const;

  llvm::StringRef file;
  int64_t base;
  bool areIntegers = false;
  const std::vector<int64_t> *rowIds = nullptr;
  const std::vector<int64_t> *columnIds = nullptr;
  std::vector<Entry> entries;
};

/// An error unless `bytes` fit `limits.arrayBytes` and can be had from the
/// system now. Standard containers end the process when memory runs out, so a
/// reader asks here before it grows one to a size that a file chose.
llvm::Error checkMemory(llvm::StringRef file, uint64_t bytes,
                        const SizeLimits &limits);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_COORDINATEMATRIX_H
