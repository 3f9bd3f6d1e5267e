//===- SparsePatterns.h - whose pattern a sparse value has ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_SPARSEPATTERNS_H
#define SPARSEAUTOGRAD_ANALYSIS_SPARSEPATTERNS_H

#include "SparseAutograd/Interfaces/MaskOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// Whether `op` makes a tensor of the elements of its operands at other places:
/// a reshape, a slice, a concatenation or a padding.
bool movesElements(mlir::Operation *op);

/// Follows sparse values to where their patterns come from. Two values of one
/// origin share positions and coordinates, so that element q of the one and of
/// the other are at the same place.
class SparsePatterns {
public:
  /// The value whose pattern the sparse tensor `value` has; `value` itself if
  /// it is the first with that pattern, or that is not known. Loops keep a
  /// pattern if each iteration hands on a value of the pattern it got.
  mlir::Value originOf(mlir::Value value);

  /// The sparse operand of an elementwise op whose pattern its only, sparse,
  /// result has: exactly the elements that it stores are visited. Null if the
  /// pattern is a new one.
  mlir::OpOperand *getPatternSource(mlir::linalg::LinalgOp op);

  /// Whether all that `op` selects is stored: its mask has the pattern of what
  /// it masks, dimension by dimension.
  bool selectsStored(MaskOpInterface op);

private:
  mlir::Value computeOrigin(mlir::Value value);
  /// The origin of what a loop carries as `argument`, from `init`, handing on
  /// `yielded`.
  mlir::Value computeCarried(mlir::Value argument, mlir::Value init,
                             mlir::Value yielded);

  /// The first op seen that makes a pattern as `op` does, by moving the
  /// elements of the same patterns.
  mlir::Operation *getFirstAlike(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, mlir::Value> origins;
  /// Ops that move elements, and those that store none.
  llvm::SmallVector<mlir::Operation *> makers;
  /// Loops in progress: what they carry is taken to have the pattern it starts
  /// with. What is found under that is forgotten.
  unsigned assumptions = 0;
  llvm::SmallVector<mlir::Value> assumed;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_SPARSEPATTERNS_H
