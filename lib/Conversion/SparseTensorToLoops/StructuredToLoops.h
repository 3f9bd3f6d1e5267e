//===- StructuredToLoops.h - structured ops on expanded tensors -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_STRUCTUREDTOLOOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_STRUCTUREDTOLOOPS_H

#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// What is known of patterns before tensors are expanded. Operands are given by
/// number.
struct OperandPatterns {
  /// For each operand, a number that operands of the same pattern share.
  llvm::SmallVector<unsigned> pattern;
  /// The operand whose pattern the sparse result of an elementwise op has, or
  /// where alone dense results are to differ from their inits.
  std::optional<unsigned> source;

  static OperandPatterns of(mlir::linalg::LinalgOp op,
                            SparsePatterns &patterns);
};

/// Checks that `op` can be lowered: that its results are sparse where their
/// types are. A failure has emitted a diagnostic on `op`.
llvm::LogicalResult checkStructured(mlir::linalg::LinalgOp op,
                                    const OperandPatterns &patterns);

/// Builds loops that compute what `op`, which has passed `checkStructured`,
/// does. `operands` has the components of each operand of `op`, or the operand
/// itself where it is dense. Returns the components of each result.
llvm::SmallVector<llvm::SmallVector<mlir::Value>>
lowerStructured(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                llvm::ArrayRef<mlir::ValueRange> operands,
                const OperandPatterns &patterns, const LoopSchedule &schedule);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_STRUCTUREDTOLOOPS_H
