//===- NormalizationPatterns.h - steps to the normal form -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATIONPATTERNS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATIONPATTERNS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// The extent of every loop of `op`, read from its operands; empty if one of
/// them is in no dimension of its own.
llvm::SmallVector<mlir::OpFoldResult> getLoopExtents(mlir::linalg::GenericOp op,
                                                     mlir::OpBuilder &builder);

/// Elements that a region reads at computed positions are gathered before:
/// tensor.generate becomes linalg.generic, and every tensor.extract of floats
/// in a linalg.generic becomes a linalg.generic of its own, which does nothing
/// but extract.
void populateGatherNormalizationPatterns(mlir::RewritePatternSet &patterns);

/// scf.index_switch becomes scf.if ops, scf.execute_region its only block, and
/// scf.forall and scf.parallel, where they have results, scf.for ops.
void populateControlFlowNormalizationPatterns(
    mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATIONPATTERNS_H
