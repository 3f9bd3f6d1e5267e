//===- AddedDensity.h - dense tensors of new spaces -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the dense tensors of a derivative with those of the program that it
// is the derivative of. One that spans two dimensions which no dense tensor of
// the program, no argument and no result of the derivative spans may be larger
// than all of these together, as a product of a sparse matrix and a vector is
// where it is stored as a dense matrix.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_ADDEDDENSITY_H
#define SPARSEAUTOGRAD_ANALYSIS_ADDEDDENSITY_H

#include "SparseAutograd/Analysis/DimensionOrigins.h"

namespace sparse_autograd {

/// A dense tensor that a derivative adds, and what it has to do with a sparse
/// one.
struct AddedTensor {
  /// The op that makes it.
  mlir::OpResult value;
  /// The two dimensions that nothing else spans.
  int64_t first, second;
  /// A sparse tensor that it is made of, else one that something is made of
  /// together with it; and the ops between the two, from `value` on.
  mlir::Value sparse;
  bool isMadeOf;
  llvm::SmallVector<mlir::Operation *> chain;
};

/// Finds the first dense tensor of floats in `derivative`, on the way from or
/// to a sparse one, that spans two dimensions which no dense tensor of
/// `program`, and no dense argument or result of `derivative`, spans.
/// Dimensions that the program does not have, as the iterations of a loop for
/// which values are kept, are left out; so are tensors that are computed where
/// they are read.
std::optional<AddedTensor> findAddedTensor(mlir::func::FuncOp derivative,
                                           mlir::func::FuncOp program,
                                           mlir::SymbolTable &symbols);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_ADDEDDENSITY_H
