//===- ExpandOps.h - ops that stand for several others ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of arith, linalg and tensor that are combinations of others, on tensors.
// What differentiates and what lowers both have rules for the others only.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_EXPANDOPS_H
#define SPARSEAUTOGRAD_TRANSFORMS_EXPANDOPS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Whether `op`, a linalg.pack or a linalg.unpack, moves elements to a tensor
/// of others, which MLIR's verifier lets pass (LLVM 22.1) and no move can do.
bool changesElements(mlir::Operation *op);

/// linalg.softmax becomes a masked_softmax without a mask; linalg.pack and
/// linalg.unpack, with tiles of constant size, a padding, a reshape and a
/// transposition; tensor.gather a linalg.generic that extracts elements; a
/// select of one of two tensors that may have other extents or patterns a
/// branch.
void populateExpandOpsPatterns(mlir::RewritePatternSet &patterns);

/// tensor.scatter becomes loops that insert elements.
void populateScatterToLoopsPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_EXPANDOPS_H
