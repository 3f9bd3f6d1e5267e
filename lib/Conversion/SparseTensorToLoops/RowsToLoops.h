//===- RowsToLoops.h - rows of sparse tables --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_ROWSTOLOOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_ROWSTOLOOPS_H

#include "SparseLoops.h"
#include "mlir/Transforms/DialectConversion.h"

namespace sparse_autograd {

/// Asserts that a table of `extent` rows has row `index`. `op` begins the
/// message.
void assertRowInside(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value index, mlir::Value extent, llvm::StringRef op);

/// Lowers `gather` of a row-sparse table.
void populateGatherRowsPatterns(const mlir::TypeConverter &types,
                                mlir::RewritePatternSet &patterns);

/// Lowers `scatter_rows`.
void populateScatterRowsPatterns(const mlir::TypeConverter &types,
                                 const LoopSchedule &schedule,
                                 mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_ROWSTOLOOPS_H
