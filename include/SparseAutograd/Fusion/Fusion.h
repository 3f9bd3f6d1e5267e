//===- Fusion.h - the steps of fusion ---------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `sparse-autograd-fuse`, each usable alone. All work on linalg
// operations on tensors; anything else in a function stays as it is. Positions
// in the block, never addresses, decide every order: the result is the same on
// every run.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_FUSION_FUSION_H
#define SPARSEAUTOGRAD_FUSION_FUSION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringRef.h"

namespace sparse_autograd {

/// The category of every remark of the fusion steps.
inline constexpr llvm::StringLiteral fusionRemarkCategory =
    "sparse-autograd-fuse";

//===----------------------------------------------------------------------===//
// What fusion may touch
//===----------------------------------------------------------------------===//

/// Whether `op` may take part in fusion: tensors only, none of them encoded,
/// every indexing map a projected permutation, not a matrix product.
bool isFusible(mlir::linalg::LinalgOp op);

//===----------------------------------------------------------------------===//
// Dependence inside a block
//===----------------------------------------------------------------------===//

/// The operations after `first` and before `last` in their block, in order,
/// that use a result of `sources`, directly or through each other. `sources`
/// themselves are not among them.
llvm::SetVector<mlir::Operation *>
getDependents(mlir::Operation *first, mlir::Operation *last,
              const llvm::SetVector<mlir::Operation *> &sources);

/// The most operations that move after another one to bring it together with an
/// earlier one. In a program of many layers, where everything depends on the
/// layer before it, looking further takes time quadratic in their number.
inline constexpr unsigned maximalMoved = 256;

/// Adds to `users` the operations of the block of `op` that use a result of it,
/// themselves or in their regions.
void addUsers(mlir::Operation *op, llvm::DenseSet<mlir::Operation *> &users);

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Rewrites named operations that fusion understands (everything but matrix
/// products, convolutions and fills) to `linalg.generic`.
void generalizeNamedOps(mlir::func::FuncOp function);

/// Computes elementwise producers inside their consumers. A producer with
/// several consumers is repeated in each if its body costs at most
/// `recomputeLimit`, and `mayRepeat`, when given, agrees. Returns whether
/// anything changed.
bool fuseElementwiseProducers(
    mlir::func::FuncOp function, int64_t recomputeLimit,
    llvm::function_ref<bool(mlir::linalg::GenericOp)> mayRepeat = nullptr);

/// Computes elementwise producers in the first of their consumers, which keeps
/// the result for the others, where `mayFuse` says so of the two. Returns
/// whether anything changed.
bool fuseIntoFirstConsumers(
    mlir::func::FuncOp function,
    llvm::function_ref<bool(mlir::linalg::GenericOp, mlir::linalg::GenericOp)>
        mayFuse);

/// Merges independent operations over the same elements that share an operand
/// into one with several results. Returns whether anything changed.
bool fuseSiblings(mlir::func::FuncOp function);

/// An operation that writes all of a result without reading what it starts from
/// starts from an empty tensor.
void populateRemoveUnreadInitsPatterns(mlir::RewritePatternSet &patterns);

/// An operation over an extent that is known to be 0 leaves its results as they
/// start: there is nothing to cut into blocks.
void populateRemoveEmptyLoopsPatterns(mlir::RewritePatternSet &patterns);

/// Has a product of matrices that somebody adds to a tensor, or subtracts from
/// it, times a factor or not, be added where it is computed.
void populateFoldIntoProductPatterns(mlir::RewritePatternSet &patterns);

/// Has products of matrices of f32 read factors that are extensions of f16 or
/// bf16 as those are stored: for tensor cores.
void populateReadNarrowFactorsPatterns(mlir::RewritePatternSet &patterns);

/// Patterns for bodies: `select(c, f(select(c, a, b)), d)` is
/// `select(c, f(a), d)`, through any chain of operations without side effects,
/// and with `c` a conjunction that contains the inner condition; `a or (a and
/// b)` is `a`; `select(z > t, z, t) > t` is `z > t`.
void populateSimplifySelectsPatterns(mlir::RewritePatternSet &patterns);

/// A pattern for bodies: results of one operation that start from the same
/// value and are combined in the same way become one.
void populateMergeEqualAccumulatorsPatterns(mlir::RewritePatternSet &patterns);

/// Operations of one block that one loop over blocks of rows can compute, with
/// what each calls a row.
struct RowGroup {
  /// The operations, in the order of the block.
  llvm::SetVector<mlir::Operation *> members;
  /// For each member the loop that runs over each dimension of the rows.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> rowLoops;
  /// Members that reduce over the rows themselves: each block of rows gives a
  /// partial result.
  llvm::DenseSet<mlir::Operation *> partial;
  /// Whether a reduction inside rows has settled which dimensions are rows.
  bool settled = false;
  /// How many operations the search for members has gone through that are none.
  unsigned numSearched = 0;

  unsigned getNumRowDims() const;
};

/// Finds the group that starts at `seed`, by looking at the operations after it
/// in its block that are not in `taken`. The group has at least `seed`, unless
/// it cannot be computed by blocks of rows at all: then it is empty.
RowGroup findRowGroup(mlir::linalg::LinalgOp seed,
                      const llvm::DenseSet<mlir::Operation *> &taken);

/// Replaces the members of `group` by one `scf.forall` over blocks of rows of
/// about `blockElements` elements. Values used after the group keep their
/// type; other values shrink to a block.
void emitRowLoop(mlir::RewriterBase &rewriter, RowGroup &group,
                 int64_t blockElements);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_FUSION_FUSION_H
