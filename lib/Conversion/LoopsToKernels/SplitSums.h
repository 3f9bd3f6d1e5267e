//===- SplitSums.h - sums of rows in chunks of entries ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The splitting by nonzeros of SplitEntries.h, of rows that are summed: a sum
// is one of several chunks where its row is.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SPLITSUMS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SPLITSUMS_H

#include "KernelNest.h"

namespace sparse_autograd {

/// Cuts the sums of the rows of a nest, whose other loops are over columns:
///
///     parallel for i, j:
///       s = init; for k in positions[i] .. positions[i + 1]: s += f(i, j, k)
///       g(i, j, s)
///
/// becomes, if there are more than a few entries,
///
///     parallel for c, j:
///       for rows i with entries in 64 c .. 64 c + 64, or empty there:
///         s = the sum of f(i, j, k) over these entries
///         if these are all of the row: g(i, j, init + s)
///         else: parts[begins here, c, j] = s
///     parallel for c, j:
///       i = the row that begins in chunk c and ends in a later one
///       s = init + parts[true, c, j]
///       for later chunks d, up to the end of the row: s += parts[false, d, j]
///       g(i, j, s)
///
/// Terms are added in an order that depends on the positions alone. Returns
/// whether the nest is of this form.
bool splitSums(mlir::RewriterBase &rewriter, const KernelNest &nest);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_SPLITSUMS_H
