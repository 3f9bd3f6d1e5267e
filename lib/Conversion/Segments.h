//===- Segments.h - what rows have in lists ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row `row` of a compressed level stores the entries positions[row] to
// positions[row + 1] of lists that have an element for each entry.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SEGMENTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SEGMENTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// What an index is widened from, or is: the number that a list stores.
mlir::Value getStoredNumber(mlir::Value index);

/// The list of positions, which ascend, if the loop whose variable `index` is
/// runs over the entries of row `row`; else null.
mlir::Value getPositions(mlir::Value index, mlir::Value row);

/// A list with an element for each entry that the loop `entries` over those of
/// a row reads, if it is there before the loop `rows`; else null.
mlir::Value getEntryList(mlir::scf::ForOp rows, mlir::scf::ForOp entries);

/// Builds code that reads positions.
struct Positions {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value list;

  mlir::Value at(mlir::Value place) const;
  /// Where row `row` ends.
  mlir::Value end(mlir::Value row) const;
  /// The first of the rows [begin, end) that ends behind `entry`, or `end`.
  mlir::Value search(mlir::Value begin, mlir::Value end,
                     mlir::Value entry) const;
  /// The row of `entry`, which is `row` or one behind it.
  mlir::Value advance(mlir::Value row, mlir::Value entry) const;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SEGMENTS_H
