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

/// A loop nest over the elements of a matrix, each of which gets a sum of
/// products of a row of one matrix and a column of another:
///
///     parallel for i, j:
///       s = init; for k: s += left[i, k] * right[k, j]
///       ...
class DenseProduct {
public:
  /// A factor, and which of its indices runs over the sum.
  struct Factor {
    mlir::memref::LoadOp load;
    bool isSumLast;
  };

  /// Of f32 or f64, or of f16 or bf16 with a sum of f32 whose order is free;
  /// each of the factors may be stored the other way round. What is done before
  /// and behind the sum touches the element alone.
  static std::optional<DenseProduct> match(const KernelNest &nest);

  /// Whether tiles are worth it: a value of the host.
  mlir::Value createIsLarge(mlir::OpBuilder &builder) const;

  /// Builds kernels of tiles in place of the nest, which is left as it is.
  void createTiles(mlir::RewriterBase &rewriter) const;

  const KernelNest &getNest() const { return nest; }
  mlir::scf::ForOp getSum() const { return sum; }
  const Factor &getLeft() const { return left; }
  const Factor &getRight() const { return right; }
  /// The type that the factors are stored in.
  mlir::Type getFactorType() const { return left.load.getType(); }

  /// Clones what is done for the element at `place`. In place of its sum it
  /// gets what `createTotal` makes of the value that the sum begins with; null
  /// ends it there.
  void cloneBody(
      mlir::OpBuilder &builder, mlir::ArrayRef<mlir::Value> place,
      llvm::function_ref<mlir::Value(mlir::Value init)> createTotal) const;

private:
  explicit DenseProduct(const KernelNest &nest) : nest(nest) {}
  bool matchFactor(mlir::Value value, mlir::Value outer, Factor &factor) const;
  bool matchFactors(mlir::Value term);
  void createFmaTiles(mlir::RewriterBase &rewriter) const;

  KernelNest nest;
  mutable mlir::scf::ForOp sum;
  mutable Factor left, right;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DENSEPRODUCTS_H
