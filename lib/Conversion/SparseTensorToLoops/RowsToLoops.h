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

/// Lowers `gather` of a row-sparse table, and `scatter_rows`.
void populateRowsToLoopsPatterns(const mlir::TypeConverter &types,
                                 const LoopSchedule &schedule,
                                 mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_ROWSTOLOOPS_H
