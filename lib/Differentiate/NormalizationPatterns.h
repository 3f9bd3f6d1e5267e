//===- NormalizationPatterns.h - steps to the normal form -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATIONPATTERNS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATIONPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// A linalg.generic that reduces by max, min or mul becomes a masked_reduce of
/// what is reduced. For this a scalar that a region packs into a tensor is
/// unpacked, a dimension of extent 1 that a map holds at 0 dropped, and a
/// reduction that also computes something else, its position for example, taken
/// out.
void populateReductionNormalizationPatterns(mlir::RewritePatternSet &patterns);

/// The maximum or minimum of a sparse tensor, of which an absent element is a
/// zero, becomes that of what it stores and a choice between it and 0.
void populateSparseExtremumNormalizationPatterns(
    mlir::RewritePatternSet &patterns);

/// Elements that a region reads at computed positions are gathered before:
/// tensor.generate becomes linalg.generic, and every tensor.extract of floats
/// in a linalg.generic becomes a linalg.generic of its own, which does nothing
/// but extract.
void populateGatherNormalizationPatterns(mlir::RewritePatternSet &patterns);

/// A linalg.generic that reads elements at computed positions in the branches
/// of its region becomes a nest of scf.for ops.
void populateGenericToLoopsPatterns(mlir::RewritePatternSet &patterns);

/// scf.index_switch becomes scf.if ops, scf.execute_region its only block
/// unless it has `no_inline`, and scf.forall and scf.parallel, where they have
/// results, scf.for ops.
void populateControlFlowNormalizationPatterns(
    mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATIONPATTERNS_H
