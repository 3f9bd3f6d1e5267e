//===- MoveEntries.h - ops that move stored elements ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reshapes, slices, concatenations and padding with zeros: each stored element
// of an operand goes to one place of the result, or is left out. The result has
// a pattern of its own.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_MOVEENTRIES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_MOVEENTRIES_H

#include "SparseLoops.h"
#include "mlir/Transforms/DialectConversion.h"

namespace sparse_autograd {

/// Checks what the lowering of `op` takes for granted, if it is an op that
/// moves elements. A failure has emitted a diagnostic on `op`.
llvm::LogicalResult checkMove(mlir::Operation *op);

/// Lowers ops that move elements, of sparse tensors that `types` expands.
void populateMoveEntriesPatterns(const mlir::TypeConverter &types,
                                 const LoopSchedule &schedule,
                                 mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_MOVEENTRIES_H
