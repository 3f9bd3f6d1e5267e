//===- EntryLoops.h - loops over all entries, row by row --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is done for each element of a list of a sparse tensor, such as its
// values, may be done row by row as well, beside what needs the rows.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_ENTRYLOOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_ENTRYLOOPS_H

#include "EqualValues.h"
#include "KernelNest.h"

namespace sparse_autograd {

/// The loop over all entries of a row (`entries` in its schedule) in `rows`, if
/// that is over all rows of a sparse tensor, and `flat` is over as many
/// elements as these are entries. Else null.
mlir::scf::ForOp getEntriesOfFlat(const KernelNest &flat,
                                  const KernelNest &rows,
                                  const EqualValues &equal,
                                  const mlir::DominanceInfo &dominance);

/// Creates loops that do what `flat` does for the rows of `rows`, and for what
/// `entries` is over in each, where `rewriter` is.
mlir::scf::ForOp createRowsOfFlat(mlir::RewriterBase &rewriter,
                                  const KernelNest &flat,
                                  const KernelNest &rows,
                                  mlir::scf::ForOp entries);

/// Whether `rows` computes something of each entry of a row by a loop of its
/// own, as a sampled product does. Lanes share that loop, and the entries are
/// cut into chunks, whatever rows they are of.
bool computesEntries(const KernelNest &rows);

/// Whether `rows` adds something up in a row, or carries it otherwise.
bool carriesInRows(const KernelNest &rows);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_ENTRYLOOPS_H
