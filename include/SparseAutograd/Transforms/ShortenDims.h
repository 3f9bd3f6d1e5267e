//===- ShortenDims.h - extents at their origin ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_SHORTENDIMS_H
#define SPARSEAUTOGRAD_TRANSFORMS_SHORTENDIMS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Has every tensor.dim in `root` ask the tensor that the extents come from: in
/// a chain of ops whose result has the shape of an operand (structured ops,
/// elementwise ops, casts) the first, and of a tensor.empty its operand. MLIR's
/// patterns that resolve extents go a step at a time, from each op of the chain
/// anew; this takes time linear in the size of the program.
void shortenDims(mlir::Operation *root);

/// The same as a pattern, for an extent that other patterns ask for. To be
/// applied with MLIR's patterns that resolve extents, before which it comes:
/// these make the extents of every operand of each op of a chain, and apply the
/// maps of structured ops to the extents of the loops, of which such a result
/// as d0 + d1 makes one too many.
void populateShortenDimsPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_SHORTENDIMS_H
