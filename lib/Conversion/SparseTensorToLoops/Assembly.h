//===- Assembly.h - a new sparse tensor from entries ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_ASSEMBLY_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_ASSEMBLY_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sparse_autograd {

/// The storage of a new sparse tensor but for its values.
struct AssembledStorage {
  /// Positions and coordinates, level by level, as components come.
  llvm::SmallVector<mlir::Value> lists;
  /// How many values there are, and which of them each entry has.
  mlir::Value numValues;
  mlir::Value slots;
  /// The numbers of the entries in the order of their values; equal ones in the
  /// order in which they were given.
  mlir::Value order;
};

/// Writes entry `number` into the tensor `entries`, which has a row for each:
/// the coordinates that `levels`, a map from indices to levels, gives at
/// `indices`.
mlir::Value listEntry(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::AffineMap levels, mlir::ValueRange indices,
                      mlir::Value entries, mlir::Value number);

/// Stores `count` entries, given by the coordinates of their levels, a row
/// each, in any order and with repetitions, in the levels of `type`. `extents`
/// are those of the dimensions.
AssembledStorage assembleStorage(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::RankedTensorType type,
                                 mlir::Value coordinates, mlir::Value count,
                                 mlir::ValueRange extents);

/// The components of a tensor of `type` with `count` entries. `list` writes the
/// coordinates of their levels, a row each, into a tensor and returns it;
/// `compute` writes their values into the zeros that it gets first, each at the
/// place that the list it gets then has for the entry.
llvm::SmallVector<mlir::Value> assembleTensor(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
    mlir::ValueRange extents, mlir::Value count,
    llvm::function_ref<mlir::Value(mlir::Value)> list,
    llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> compute);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_ASSEMBLY_H
