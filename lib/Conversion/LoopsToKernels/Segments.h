//===- Segments.h - what rows have in lists ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SEGMENTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SEGMENTS_H

#include "KernelNest.h"

namespace sparse_autograd {

/// The list of positions, which ascend, if the loop whose variable `index` is
/// runs from positions[row] to positions[row + 1], as one over what row `row`
/// of a compressed level stores does; else null.
mlir::Value getPositions(mlir::Value index, mlir::Value row);

/// Cuts a parallel loop over rows whose lanes compute one entry of the row
/// after the other, as those of a sampled product, into chunks of entries
/// instead: rows may differ much, and a chunk is a group's. The row of its
/// first entry is searched, those of the others follow. `row` is the loop over
/// rows, which is replaced; one of another form is left alone.
///
///     parallel for i: for k in positions[i] .. positions[i + 1]: f(i, k)
///
/// becomes
///
///     parallel for c:
///       i = the row of entry 8 c
///       for k in 8 c .. 8 c + 8:
///         while positions[i + 1] <= k: ++i
///         f(i, k)
///
/// (as the splitting by nonzeros of Yang, Buluc and Owens, Euro-Par 2018).
void splitByEntries(mlir::RewriterBase &rewriter, mlir::scf::ForOp row);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SEGMENTS_H
