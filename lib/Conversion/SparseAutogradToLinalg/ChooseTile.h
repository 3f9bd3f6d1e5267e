//===- ChooseTile.h - the choice of one 4 x 4 tile --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_CHOOSETILE_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_CHOOSETILE_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

namespace sparse_autograd {

/// A tile at the edge of a tensor: which of its 16 elements there are (of i1),
/// and how many rows and columns of them (indices).
struct TileEdge {
  llvm::ArrayRef<mlir::Value> isPresent;
  mlir::Value rows, columns;
};

/// What `select` keeps of a tile, of 16 floats in row-major order, as the i16
/// that choose_24 has. The code has no branches: several tiles can be computed
/// in the lanes of a vector. Only the edge of `optimal` has a loop, over the
/// patterns of a smaller tile. What is not present at an edge may be any
/// number.
mlir::Value chooseTile(mlir::OpBuilder &builder, mlir::Location loc,
                       Selection24 select, llvm::ArrayRef<mlir::Value> elements,
                       const TileEdge *edge = nullptr);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_CHOOSETILE_H
