//===- ResidualGraph.h - what to keep and what to compute again -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_RESIDUALGRAPH_H
#define SPARSEAUTOGRAD_ANALYSIS_RESIDUALGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace sparse_autograd {

/// A computation cut in two: an early part, and a late part that needs some of
/// the early part's values. Each value that the late part needs is either kept,
/// which costs in proportion to its size, or computed again in the late part,
/// from operands that are kept or computed again themselves, which costs what
/// the operation costs.
///
/// The cheapest choice is a minimum cut (Goldberg and Tarjan's maximum flow
/// problem; for training, Jain et al.: Checkmate, MLSys 2020, poses it with a
/// memory limit). Every operation and every value is a node; what is on the
/// source's side is early, what is on the sink's side is there late:
///
///     source -> operation   its cost: it is computed again
///     operation -> result   the result's size: it is kept
///     operand -> operation  infinite: what is computed again finds its
///     operands value -> sink         infinite, if the late part needs it
///
/// An input is a value without an operation, on the source's side itself.
class ResidualGraph {
public:
  /// The number of an operation or of a value, each in the order of addition.
  using Index = unsigned;

  /// What is kept and what is computed again.
  struct Plan {
    /// By value.
    llvm::BitVector kept;
    /// By operation.
    llvm::BitVector recomputed;
  };

  /// Adds a value that is there before the early part begins.
  Index addInput(int64_t size) { return addValue(size, std::nullopt); }
  /// Adds an operation; nothing for `cost` says that it is never computed
  /// again.
  Index addOperation(std::optional<int64_t> cost,
                     llvm::ArrayRef<Index> operands);
  /// Adds a result of an operation; nothing for `size` says that it cannot be
  /// kept.
  Index addResult(Index operation, std::optional<int64_t> size) {
    return addValue(size, operation);
  }
  /// Says that the late part needs a value.
  void need(Index value) { needed.push_back(value); }

  /// The cheapest plan where keeping a byte costs `weight`. Among equally cheap
  /// ones, one that computes as little as possible again.
  Plan findPlan(int64_t weight) const;

  /// What a plan costs.
  int64_t getCost(const Plan &plan, int64_t weight) const;
  /// The sizes of what a plan keeps, in total.
  int64_t getSize(const Plan &plan) const;

private:
  struct Operation {
    std::optional<int64_t> cost;
    llvm::SmallVector<Index> operands;
  };
  struct Value {
    std::optional<int64_t> size;
    std::optional<Index> operation;
  };

  Index addValue(std::optional<int64_t> size, std::optional<Index> operation);

  llvm::SmallVector<Operation> operations;
  llvm::SmallVector<Value> values;
  llvm::SmallVector<Index> needed;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_RESIDUALGRAPH_H
