//===- SplitEntries.h - rows in chunks of entries ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of a sparse matrix may differ much. Here a parallel iteration over rows
// becomes one over chunks of entries, all of which have the same number (the
// splitting by nonzeros of Yang, Buluc and Owens, Euro-Par 2018).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SPLITENTRIES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SPLITENTRIES_H

#include "KernelNest.h"

namespace sparse_autograd {

/// Cuts a parallel loop over rows whose lanes compute one entry of the row
/// after the other, as those of a sampled product. The row of the first entry
/// of a chunk is searched, those of the others follow. `rows` is the loop over
/// rows, which is replaced; returns whether it is of this form.
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
bool splitEntries(mlir::RewriterBase &rewriter, mlir::scf::ForOp rows);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SPLITENTRIES_H
