//===- Scatter.h - loops that write to rows that a list names ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scatter is a loop over entries each of which updates one row of a buffer,
// the one that a list of coordinates names for it, or a loop over rows and
// their entries, which may go through the entries several times, for strips of
// columns:
//
//   for p = 0 to n:                              C[list[p], :] += ...
//   for i = 0 to m:
//     for p = positions[i] to positions[i+1]:    C[list[p], :] += ...
//   for i = 0 to m:
//     for c = 0 to e step 64:
//       for p = positions[i] to positions[i+1]:  C[list[p], c:c+64] += ...
//     for c = e to n step 16:
//       for p = positions[i] to positions[i+1]:  C[list[p], c:c+16] += ...
//
// Found by DistributeScatter, from what the loops access and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_DISTRIBUTESCATTER_SCATTER_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_DISTRIBUTESCATTER_SCATTER_H

#include "../KernelOps.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// What a scatter does with some of the columns.
struct ScatterPart {
  /// The loop over strips of columns; null if there is one strip.
  mlir::scf::ForOp strips;
  /// The loop over entries.
  mlir::scf::ForOp entries;
  /// What reads the coordinate of an entry, and that coordinate as an index.
  mlir::memref::LoadOp load;
  mlir::Value coordinate;
};

struct Scatter {
  /// The outermost loop: over rows, or the one over entries.
  mlir::scf::ForOp loop;
  /// Where the entries of rows begin; null if there are no rows.
  mlir::Value positions;
  /// Parts that access different columns of what is written, of one list.
  llvm::SmallVector<ScatterPart> parts;
  /// A buffer that is written, and the dimension that coordinates are of.
  mlir::Value buffer;
  unsigned dim;

  bool hasRows() const { return positions != nullptr; }

  /// `loop` as a scatter. Iterations with different coordinates access
  /// different rows of whatever it writes, so that the bits of the results do
  /// not depend on the order of such iterations, only on that of iterations
  /// with one coordinate.
  static std::optional<Scatter> match(mlir::scf::ForOp loop,
                                      mlir::AliasAnalysis &aliases);
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_DISTRIBUTESCATTER_SCATTER_H
