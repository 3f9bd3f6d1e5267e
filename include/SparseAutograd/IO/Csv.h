//===- Csv.h - Tables of (row, column, value) triplets ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_CSV_H
#define SPARSEAUTOGRAD_IO_CSV_H

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace sparse_autograd::io {

/// How a table of triplets is to be read. Columns count from 0.
struct CsvOptions {
  unsigned rowColumn = 0;
  unsigned columnColumn = 1;
  /// Nothing: the table is a pattern.
  std::optional<unsigned> valueColumn = 2;
  /// Whether columns other than these may be there.
  bool ignoreFurtherColumns = true;
  char separator = ',';
  /// Whether inf and nan are values, rather than missing data.
  bool acceptNonFinite = false;
};

/// A matrix whose rows and columns were named by arbitrary integers: row i of
/// the matrix had the id rowIds[i], and the ids increase.
struct TripletTable {
  CoordinateMatrix matrix;
  std::vector<int64_t> rowIds;
  std::vector<int64_t> columnIds;
};

/// Reads a table of triplets. The first line is a header when none of the
/// fields that are to be read is a number there. Every line has as many fields
/// as the first. A field may be quoted (RFC 4180), but not span lines.
llvm::Expected<TripletTable>
parseCsv(llvm::StringRef text, llvm::StringRef file, const CsvOptions &options,
         Duplicates duplicates, const SizeLimits &limits);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_CSV_H
