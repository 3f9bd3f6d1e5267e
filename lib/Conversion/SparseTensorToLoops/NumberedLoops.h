//===- NumberedLoops.h - loops that number what they visit ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops that carry a number, which they add one to for each element that they
// visit: first to count the elements, then to list them, each at its number.
// One iteration has to wait for the one before it. Where there are many
// threads, each iteration counts by itself; how many elements there are before
// it is what it begins with in the loops that follow.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_NUMBEREDLOOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_NUMBEREDLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// The loops that visit the elements of some parts, one part after the other,
/// as often as they do. The last value that a loop carries is the number; what
/// comes before it are tensors.
class NumberedLoops {
public:
  /// Notes how `results` are computed from `carried`: by a loop over the next
  /// part, or by nothing.
  void addPart(mlir::ValueRange carried, mlir::ValueRange results);
  /// All parts have been visited. `isApart`: no two iterations of a loop write
  /// to the same place.
  void endVisit(bool isApart = true);

  /// Makes the loops parallel, if that is possible: the iterations of those
  /// that count, which are the first visit, and of those whose iterations write
  /// apart. A dialect conversion, which replaces values late, is to be over.
  void makeParallel(mlir::RewriterBase &rewriter);

private:
  /// For each visit its loops, which are null for parts without elements.
  llvm::SmallVector<llvm::SmallVector<mlir::scf::ForOp>> visits = {{}};
  llvm::SmallVector<bool> areApart;
  bool areLoops = true;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_NUMBEREDLOOPS_H
