//===- MemoryBound.h - memory that a function takes at most -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds up the tensors of a function on sparse tensors, as terms of what its
// arguments store and of their extents. It is asked when copies in another
// order are placed and nothing is fused yet (--sparse-autograd-bound-memory):
// blocks of rows of constant size come on top.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_MEMORYBOUND_H
#define SPARSEAUTOGRAD_ANALYSIS_MEMORYBOUND_H

#include "SparseAutograd/Analysis/DimensionOrigins.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include <map>

namespace sparse_autograd {

/// Bounds the bytes that a call of a function allocates, its results among
/// them.
class MemoryBound {
public:
  /// A function of one block without loops, branches or calls.
  MemoryBound(mlir::func::FuncOp function, mlir::SymbolTable &symbols);

  /// The bound as a sum of products of numbers, of `nnz(k)`, the elements that
  /// the sparse argument k stores, `pattern(k)`, the bytes of its positions and
  /// coordinates, and `dim(k, d)`, extents of argument k. Nothing if an op or
  /// an extent is not known.
  std::optional<std::string> compute();

private:
  using Count = std::optional<std::string>;
  bool addOp(mlir::Operation &op);
  bool addTensor(mlir::OpResult result);
  bool addNewPattern(mlir::OpResult result);
  bool addReturned(mlir::Value value);
  bool takesOver(mlir::OpOperand &operand);
  Count getExtent(mlir::Value tensor, int64_t dim);
  Count getSize(mlir::Value tensor);
  mlir::Value getOrigin(mlir::Value sparse);
  Count countStored(mlir::Value sparse);
  Count countVisited(mlir::linalg::LinalgOp op);
  bool add(int64_t factor, Count term);

  mlir::func::FuncOp function;
  DimensionOrigins origins;
  DimensionOrigins::Instance instance;
  SparsePatterns patterns;
  /// By the class of a dimension.
  llvm::DenseMap<unsigned, std::string> extents;
  /// Entries of the patterns that ops make.
  llvm::DenseMap<mlir::Value, std::string> entries;
  /// Tensors with memory of their own.
  llvm::DenseSet<mlir::Value> owned;
  /// Terms, and how often each is added.
  std::map<std::string, int64_t> terms;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_MEMORYBOUND_H
