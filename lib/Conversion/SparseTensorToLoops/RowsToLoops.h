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

/// Asserts, of `op`, that a table of `extent` rows has row `index`.
void assertRowInside(mlir::OpBuilder &builder, mlir::Operation *op,
                     mlir::Value index, mlir::Value extent);

/// Lowers `gather` of a row-sparse table.
void populateGatherRowsPatterns(const mlir::TypeConverter &types,
                                mlir::RewritePatternSet &patterns);

/// Lowers `scatter_rows`.
void populateScatterRowsPatterns(const mlir::TypeConverter &types,
                                 const LoopSchedule &schedule,
                                 mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_ROWSTOLOOPS_H
