//===- Selection24.h - choices of two of four -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 2:4 selection (semantics T1 to T4): its evaluation on constants, and builders
// that differentiation and lowering share.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SELECTION24_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SELECTION24_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

namespace sparse_autograd {

/// Rows and columns of a tile of which `causal1122` keeps 1, 1, 2 and 2
/// elements a row, and of which a row or a column keeps at most two.
inline constexpr int64_t tileExtent = 4;
inline constexpr int64_t causalRowLimits[tileExtent] = {1, 1, 2, 2};

/// The bit of the element in row `row` and column `column` of a tile.
inline int64_t getTileBit(int64_t row, int64_t column) {
  return row * tileExtent + column;
}

/// The patterns that `optimal` takes the best of in a tile of `rows` x
/// `columns` elements: the sets of at most two elements a row and a column that
/// have the most elements. The first of equal ones is the one to take.
llvm::SmallVector<uint16_t> listOptimalPatterns(int64_t rows, int64_t columns);

/// What `select` keeps of a tile of `rows` x `columns` elements, at most four
/// of each, that are given in row-major order.
uint16_t chooseOfTile(Selection24 select,
                      llvm::ArrayRef<llvm::APFloat> elements, int64_t rows,
                      int64_t columns);

/// What `select` keeps of `elements`, dense and of a type that ops select from:
/// a choice for each tile, in row-major order.
llvm::SmallVector<uint16_t> chooseOfConstant(Selection24 select,
                                             mlir::DenseElementsAttr elements);

/// The mask of a choice that was made of the tensor `like`.
mlir::Value createChoiceMask(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value choice, mlir::Value like);

/// The elements of the tensor `value` where `mask` is true, zeros elsewhere.
/// Extents are read from the mask.
mlir::Value createSelected(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value, mlir::Value mask);

/// What `choice`, made by `select`, with the mask `mask`, keeps of `value`, as
/// results of the types `types`, each dense or with an encoding of 2:4 storage;
/// the second one is that of the transposed matrices.
llvm::SmallVector<mlir::Value>
createSelections(mlir::OpBuilder &builder, mlir::Location loc,
                 Selection24 select, mlir::Value value, mlir::Value choice,
                 mlir::Value mask, mlir::TypeRange types);

/// The tensor `value` with its last two dimensions exchanged, as a
/// linalg.generic. Extents are read from `like`, a tensor of its shape.
mlir::Value createTransposedMatrices(mlir::OpBuilder &builder,
                                     mlir::Location loc, mlir::Value value,
                                     mlir::Value like);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SELECTION24_H
