//===- SupportAnalysis.h - where values may differ from zero ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The support of every value of a program: nowhere, where sparse tensors store
// something, where masks are true, or everywhere. What an op makes of supports
// follows from its region, in which operands are replaced by zeros
// (ScalarTerms.h), as it does for what an op must visit (SparseIteration.h).
//
// As a lattice: nothing, finite unions of patterns and masks, everything. The
// join is the union; a union of more than a few is everything.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_SUPPORTANALYSIS_H
#define SPARSEAUTOGRAD_ANALYSIS_SUPPORTANALYSIS_H

#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// Elements of a value: those at which a sparse tensor stores something (a
/// list of rows that are stored is such a pattern), or a mask is true.
struct ElementSet {
  /// A sparse tensor, the first of its pattern, or a dense tensor of i1.
  mlir::Value source;
  /// From the dimensions of the value to those of `source`: a projected
  /// permutation. The set does not depend on dimensions that it leaves out.
  mlir::AffineMap map;

  bool operator==(const ElementSet &other) const {
    return source == other.source && map == other.map;
  }
};

/// Where a value may differ from zero: in a union of sets, or anywhere.
struct ValueSupport {
  bool isEverywhere = false;
  /// None, and not everywhere: the value is zero.
  llvm::SmallVector<ElementSet> sets;

  static ValueSupport everywhere() { return {true, {}}; }
  static ValueSupport nowhere() { return {}; }
  bool isNowhere() const { return !isEverywhere && sets.empty(); }
  bool operator==(const ValueSupport &other) const {
    return isEverywhere == other.isEverywhere && sets == other.sets;
  }
  /// The union with `other`.
  void join(const ValueSupport &other);
};

/// Computes supports on demand. A result holds as long as the program stays as
/// it is.
class SupportAnalysis {
public:
  /// Where `value`, a tensor, may differ from zero. The stored zeros of a
  /// sparse tensor count; those of a dense one do where nothing is known.
  ValueSupport of(mlir::Value value);

private:
  ValueSupport compute(mlir::Value value);
  ValueSupport ofStructured(mlir::linalg::LinalgOp op, mlir::OpResult result);
  ValueSupport ofLoop(mlir::scf::ForOp loop, unsigned number);

  SparsePatterns patterns;
  llvm::DenseMap<mlir::Value, ValueSupport> known;
  /// Loops in progress, whose carried values are taken to have some support,
  /// and the values that are known under that: they are forgotten.
  unsigned assumptions = 0;
  llvm::SmallVector<mlir::Value> assumed;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_SUPPORTANALYSIS_H
