//===- ResidualPlan.h - what a backward part keeps --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_RESIDUALPLAN_H
#define SPARSEAUTOGRAD_ANALYSIS_RESIDUALPLAN_H

#include "SparseAutograd/Analysis/ComparedValues.h"
#include "SparseAutograd/Analysis/ResidualGraph.h"
#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// The category of remarks on residuals.
inline constexpr llvm::StringLiteral residualRemarkCategory =
    "sparse-autograd-residuals";

/// What the backward part of a program keeps of the values of its forward part,
/// and what it computes again: the cheapest choice (ResidualGraph) for what the
/// ops cost (ResidualCost). What is compared for equality is computed once.
///
/// Values are added before what reads them. What was not added is there
/// whatever is chosen: a constant, a value from outside of a loop.
class ResidualPlan {
public:
  /// The regions `program` contain every op that will be added.
  explicit ResidualPlan(llvm::ArrayRef<mlir::Region *> program)
      : compared(program) {}

  /// Adds a value that nothing computes; keeping it takes `size` bytes.
  void addInput(mlir::Value value, int64_t size);

  /// Adds an op. To keep one of its results takes the bytes that `sizeOf` says;
  /// nothing if it cannot be kept.
  void
  addOperation(mlir::Operation *op,
               llvm::function_ref<std::optional<int64_t>(mlir::Value)> sizeOf);

  /// Says that the backward part reads `value`.
  void need(mlir::Value value);

  /// Makes the choice for what it costs to keep a byte.
  void choose(int64_t costOfByte) { plan = graph.findPlan(costOfByte); }

  /// The bytes that are kept.
  int64_t getSize() const { return graph.getSize(plan); }
  bool keeps(mlir::Value value) const;
  /// What is kept and computed again, in the order of addition.
  llvm::SmallVector<mlir::Value> getKept() const;
  llvm::SmallVector<mlir::Operation *> getRecomputed() const;

  /// Remarks in the function `function` on what is kept, what is computed
  /// again, and why.
  void remark(llvm::StringRef function) const;

private:
  /// What an op costs; nothing if it must be computed once.
  std::optional<int64_t> getCost(mlir::Operation *op) const;

  ComparedValues compared;
  ResidualGraph graph;
  ResidualGraph::Plan plan;
  /// The values and the ops of the graph, by their numbers, and back.
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Operation *> operations;
  llvm::DenseMap<mlir::Value, ResidualGraph::Index> numbers;
  llvm::DenseSet<mlir::Value> inputs;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_RESIDUALPLAN_H
