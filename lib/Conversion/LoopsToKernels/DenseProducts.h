//===- DenseProducts.h - products of dense matrices in tiles ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DENSEPRODUCTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DENSEPRODUCTS_H

#include "KernelNest.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <optional>

namespace sparse_autograd {

/// A loop nest over the elements of a tensor, each of which gets one
/// `inner_product`: of several elements in a row and in a column the rows of
/// one factor and the columns of the other one are read again and again.
///
///     parallel for b, i, j:
///       s = inner_product left[b, i, :], right[b, :, j] from ...
///       ...
///
/// What is done before and after the sum touches the element alone. One factor
/// may store two of each four terms.
class DenseProduct {
public:
  /// A factor: a buffer, and its indices but that of the sum.
  struct Factor {
    mlir::Value memref;
    mlir::SmallVector<mlir::Value> indices;
    /// The dimensions that run over the sum, and over rows or columns.
    unsigned sumDim = 0, ownDim = 0;
    /// Which terms are stored, two of each four; null if all are.
    mlir::Value coordinates;

    /// Whether the terms of a row or column lie closer to each other than the
    /// rows or columns do.
    bool isSumLast() const { return sumDim > ownDim; }
    /// Whether one of both lies side by side.
    bool isSideBySide() const {
      return std::max(sumDim, ownDim) + 1 ==
             mlir::cast<mlir::MemRefType>(memref.getType()).getRank();
    }
  };

  /// The product of a nest; none if the nest is no such one.
  static std::optional<DenseProduct> match(const KernelNest &nest);

  /// Whether tiles are worth it: a value of the host.
  mlir::Value createIsLarge(mlir::OpBuilder &builder) const;

  /// Builds kernels of tiles in place of the nest, which is left as it is.
  void createTiles(mlir::RewriterBase &rewriter) const;

  const KernelNest &getNest() const { return nest; }
  mlir::Location getLoc() const { return sum->getLoc(); }
  const Factor &getLeft() const { return left; }
  const Factor &getRight() const { return right; }
  /// The type that the factors are stored in.
  mlir::Type getFactorType() const {
    return mlir::getElementTypeOrSelf(left.memref.getType());
  }
  mlir::Type getSumType() const { return sum->getResult(0).getType(); }
  mlir::Value getRows() const { return nest.getUpperBounds()[row]; }
  mlir::Value getColumns() const { return nest.getUpperBounds()[column]; }
  mlir::Value getTerms() const;
  /// Whether a factor stores two of each four terms.
  bool isStructured() const { return left.coordinates || right.coordinates; }
  /// What each sum begins with.
  mlir::Value getInit() const;

  /// How many tiles there are of `down` times `across` of each matrix.
  mlir::Value countTiles(mlir::OpBuilder &builder, mlir::Value down,
                         mlir::Value across) const;

  /// The tile that block `number` computes: its row and column among those of
  /// a matrix, and which matrix it is of.
  struct Tile {
    mlir::Value row, column;
    mlir::SmallVector<mlir::Value> matrix;
  };
  Tile getTile(mlir::OpBuilder &builder, mlir::Value number, mlir::Value down,
               mlir::Value across) const;

  /// The indices of an element of a factor: of the matrix of `tile`, of row or
  /// column `own`, and of term `term`; of a structured one, of those it stores.
  mlir::SmallVector<mlir::Value> getIndices(const Factor &factor,
                                            const Tile &tile, mlir::Value own,
                                            mlir::Value term) const;

  /// Clones what is done for the element in `row` and `column` of the matrix of
  /// `tile`. In place of its sum it gets what `createTotal` makes of the value
  /// that the sum begins with; null ends it there.
  void cloneBody(
      mlir::OpBuilder &builder, const Tile &tile, mlir::Value row,
      mlir::Value column,
      llvm::function_ref<mlir::Value(mlir::Value init)> createTotal) const;

private:
  explicit DenseProduct(const KernelNest &nest) : nest(nest) {}
  std::optional<unsigned> getNumber(mlir::Value index) const;
  bool matchFactor(mlir::Value memref, mlir::ValueRange indices, unsigned dim,
                   Factor &factor) const;
  bool chooseDims();
  /// Whether the elements that the sums begin with are read before the sums:
  /// terms of f32 and f64 are added to them one by one.
  bool readsInitFirst() const;
  void createFmaTiles(mlir::RewriterBase &rewriter) const;

  KernelNest nest;
  /// An `InnerProductOp`.
  mlir::Operation *sum = nullptr;
  Factor left, right;
  /// The variables of the nest that run over rows and columns, and the others.
  unsigned row = 0, column = 0;
  mlir::SmallVector<unsigned> outer;
};

/// Replaces an `InnerProductOp` by a loop; `outside` is where its bounds are
/// made.
void expandInnerProduct(mlir::RewriterBase &rewriter, mlir::Operation *product,
                        mlir::Operation *outside);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DENSEPRODUCTS_H
