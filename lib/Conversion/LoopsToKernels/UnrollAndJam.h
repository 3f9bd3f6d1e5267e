//===- UnrollAndJam.h - iterations of a loop done together ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_UNROLLANDJAM_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_UNROLLANDJAM_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace sparse_autograd {

/// Several iterations of a parallel loop as one: each op is done for all of
/// them before the next op, also in the loops and branches of the body, which
/// they go through together. What no iteration changes is done once.
///
///     for k in 0 .. n: s += a[k] * x[k, j]
///
/// is, of j and j + 1,
///
///     for k in 0 .. n:
///       s0 += a[k] * x[k, j]
///       s1 += a[k] * x[k, j + 1]
class UnrollAndJam {
public:
  /// Of iterations that do `ops`, one after the other, and differ by
  /// `variable`, of which all other values in sight are independent.
  UnrollAndJam(llvm::ArrayRef<mlir::Operation *> ops, mlir::Value variable);

  /// Of iterations that do what is in `body`, but for its terminator.
  UnrollAndJam(mlir::Block &body, mlir::Value variable);

  /// Whether they go through loops and branches together; a branch without
  /// loops they may take one by one. Nothing is there but these, loads, stores,
  /// assertions and what is pure.
  bool isPossible() const { return possible; }

  /// How many ops of the body, or in it, each iteration has of its own, and
  /// how many of these are loads and stores.
  unsigned countOps() const { return ownOps; }
  unsigned countAccesses() const { return ownAccesses; }

  /// Creates the ops of the iterations that have these values of the variable
  /// where `rewriter` is. Must be possible.
  void createIterations(mlir::RewriterBase &rewriter,
                        mlir::ValueRange variables);

private:
  void analyze();
  void analyze(mlir::Block &block);
  void analyze(mlir::Operation *op);
  void analyze(mlir::scf::ForOp loop);
  void analyze(mlir::scf::WhileOp loop);
  void analyze(mlir::scf::IfOp branch);
  bool areVarying(mlir::Operation *op) const;
  void setVarying(mlir::Value value);
  void setVarying(mlir::ValueRange values, mlir::ValueRange like);

  void cloneBlock(mlir::RewriterBase &rewriter, mlir::Block &block);
  void cloneOp(mlir::RewriterBase &rewriter, mlir::Operation *op);
  void cloneLoop(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);
  void cloneLoop(mlir::RewriterBase &rewriter, mlir::scf::WhileOp loop);
  void cloneBranch(mlir::RewriterBase &rewriter, mlir::scf::IfOp branch);
  mlir::SmallVector<mlir::Value> getCopies(mlir::ValueRange values,
                                           mlir::ValueRange like) const;
  mlir::SmallVector<mlir::Type> getTypes(mlir::ValueRange values) const;
  mlir::Value getCopy(mlir::Value value) const {
    return copies.front().lookupOrDefault(value);
  }
  void setCopies(mlir::ValueRange values, mlir::ValueRange results);

  mlir::SmallVector<mlir::Operation *> ops;
  mlir::Value variable;
  /// Values that the iterations do not share.
  llvm::DenseSet<mlir::Value> varying;
  bool possible = true;
  unsigned ownOps = 0, ownAccesses = 0;
  /// Of each iteration.
  mlir::SmallVector<mlir::IRMapping> copies;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_UNROLLANDJAM_H
