//===- DimensionOrigins.h - dimensions of one extent ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes of dimensions that have one extent because of where they come from:
// an op reads them in one loop, or makes one tensor like another. Constants
// that happen to be equal say nothing. Where ShapeOrigin follows one tensor
// back, this relates all tensors of several functions; who calls it decides
// which functions have arguments in common.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_DIMENSIONORIGINS_H
#define SPARSEAUTOGRAD_ANALYSIS_DIMENSIONORIGINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// A union-find over the dimensions of tensors.
class DimensionOrigins {
public:
  /// A function that runs with tensors of its own: each call of it is another
  /// one, as long as there are not too many.
  using Instance = unsigned;

  /// Adds what a function and its callees do; calls are found by name in
  /// `symbols`.
  Instance add(mlir::func::FuncOp function, mlir::SymbolTable &symbols);

  /// Makes the dimensions of two tensors of one rank alike, one by one, or two
  /// numbers that are extents.
  void unify(Instance a, mlir::Value first, Instance b, mlir::Value second);

  /// A number that the dimensions of one class have in common.
  unsigned getClass(Instance instance, mlir::Value tensor, int64_t dim);

  /// Calls `callback` with each tensor of `root`, and of what it calls, and the
  /// instance of its function.
  void forEachTensor(
      Instance root,
      llvm::function_ref<void(Instance, mlir::Value tensor)> callback) const;

private:
  /// A dimension of a tensor, or, without one, a number that is an extent.
  struct Extent {
    mlir::Value value;
    int64_t dim = -1;
  };
  struct Function {
    mlir::func::FuncOp op;
    llvm::DenseMap<std::pair<mlir::Value, int64_t>, unsigned> numbers;
    llvm::SmallVector<Instance> callees;
  };

  void visit(Instance instance, mlir::Operation *op,
             mlir::SymbolTable &symbols);
  void visitShape(Instance instance, mlir::Operation *op);
  void visitStructured(Instance instance, mlir::linalg::LinalgOp op);
  void visitRegions(Instance instance, mlir::Operation *op);
  void visitCall(Instance instance, mlir::func::CallOp call,
                 mlir::SymbolTable &symbols);
  void unifyAll(Instance instance, mlir::ValueRange first,
                mlir::ValueRange second);
  void unify(Instance instance, Extent first, Extent second);
  unsigned getNumber(Instance instance, Extent extent);
  unsigned find(unsigned number);

  std::vector<Function> functions;
  /// The first instance of each function, and those in progress.
  llvm::DenseMap<mlir::Operation *, Instance> known;
  llvm::SmallPtrSet<mlir::Operation *, 4> inProgress;
  llvm::SmallVector<unsigned> parents;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_DIMENSIONORIGINS_H
