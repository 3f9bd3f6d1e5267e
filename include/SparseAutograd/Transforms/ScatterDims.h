//===- ScatterDims.h - extents of what scatters -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_SCATTERDIMS_H
#define SPARSEAUTOGRAD_TRANSFORMS_SCATTERDIMS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// An extent of the result of a structured op that scatters (its map has such
/// results as d0 + d1) is that of its init. To be applied with MLIR's patterns
/// that resolve extents, before which it comes: these apply the map to the
/// extents of the loops, of which d0 + d1 makes one too many.
void populateScatterDimsPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_SCATTERDIMS_H
