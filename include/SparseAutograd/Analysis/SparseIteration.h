//===- SparseIteration.h - which elements an op must visit ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured op on sparse operands does nothing at most elements of its
// iteration space. Which ones it must visit follows from its region: an operand
// whose absence alone makes the region do nothing must be stored (a factor of a
// product); if none is like that, one of them must be (a sum).
//
// The lattices of Kjolstad et al. (The tensor algebra compiler, OOPSLA 2017)
// say the same of expressions; here it is asked of any region, by replacing
// operands by zeros.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_SPARSEITERATION_H
#define SPARSEAUTOGRAD_ANALYSIS_SPARSEITERATION_H

#include "SparseAutograd/Analysis/ScalarTerms.h"

namespace sparse_autograd {

/// A part of an iteration space: where every operand of `stored` stores an
/// element and no operand of `missing` does. Operands are given by number.
struct StoredPart {
  llvm::SmallVector<unsigned> stored;
  llvm::SmallVector<unsigned> missing;
};

/// The elements that a structured op must visit.
struct SparseIteration {
  /// Sparse inputs that the region reads.
  llvm::SmallVector<unsigned> sparseInputs;
  /// What is yielded where none of them stores an element.
  llvm::SmallVector<const Term *> base;
  /// Every element must be visited: `parts` is empty.
  bool visitsAll = false;
  /// Disjoint parts that hold every element at which something else than `base`
  /// is yielded. In a reduction `base` leaves the sums as they are.
  llvm::SmallVector<StoredPart> parts;

  static SparseIteration of(mlir::linalg::LinalgOp op, ScalarTerms &terms);
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_SPARSEITERATION_H
