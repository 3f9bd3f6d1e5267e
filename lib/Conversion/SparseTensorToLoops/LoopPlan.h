//===- LoopPlan.h - in which order loops run --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LOOPPLAN_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LOOPPLAN_H

#include "SparseLoops.h"

namespace sparse_autograd {

/// One thing that loops do.
struct LoopStep {
  enum Kind {
    Iterate, ///< loop over what a level stores
    Locate,  ///< search a level for a coordinate that is known
    Bind,    ///< a loop index follows from the coordinate of a dimension
    Compare, ///< the coordinate of a dimension must be the known one
    Dense    ///< loop over all of a loop's extent
  };
  Kind kind;
  /// Of all but Dense.
  unsigned operand = 0;
  /// Of Iterate and Locate.
  unsigned level = 0;
  /// Of Bind and Compare.
  unsigned dim = 0;
  /// Of Bind and Dense.
  unsigned loop = 0;
  /// A dense loop that has been moved outside.
  bool isOutside = false;
  /// Of Dense: whether its iterations are in the lanes of vectors.
  bool isInLanes = false;
};

/// The steps that visit the elements which operands store.
class LoopPlan {
public:
  /// The cheapest order of `stored`; the first of them stays first if
  /// `isFirstOutermost`.
  static LoopPlan choose(const SparseLoops &loops,
                         llvm::ArrayRef<unsigned> stored,
                         bool isFirstOutermost);

  llvm::ArrayRef<LoopStep> getSteps() const { return steps; }
  /// About how many steps the loops do, by which orders are compared. What is
  /// not known is estimated (Estimates.h).
  double getCost() const { return cost; }

  /// How the step that is in lanes is, if one is.
  const VectorForm &getVectorForm() const { return vectorForm; }

  /// Moves innermost dense loops for which `mayMove` outside: behind the first
  /// loop if that is parallel, else before all.
  void moveDenseOutside(bool isFirstParallel,
                        llvm::function_ref<bool(unsigned loop)> mayMove);

  /// The innermost loop, if it is dense.
  std::optional<unsigned> getInnermostDense() const;
  /// Has vectors compute the innermost loop, which is dense.
  void vectorize(VectorForm form);
  /// Whether the first loops are those over all indices of the loops of
  /// `places`, and another loop comes next.
  bool visitsOnce(const llvm::SmallBitVector &places) const;

private:
  LoopPlan(const SparseLoops &loops, llvm::ArrayRef<unsigned> order);
  void traverse(unsigned number);
  void makeKnown(unsigned number, unsigned dim);
  void addDense(unsigned loop);
  double getExtent(unsigned loop) const;
  size_t getStepAfter(llvm::SmallBitVector places) const;
  bool isWholeDim(const LoopStep &bind) const;
  llvm::SmallVector<unsigned> getUnknownLoops(mlir::AffineExpr expr) const;

  const SparseLoops &loops;
  llvm::SmallVector<LoopStep> steps;
  VectorForm vectorForm;
  llvm::SmallBitVector known;
  /// How often the next step is expected to run, and what all have cost.
  double count = 1;
  double cost = 0;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LOOPPLAN_H
