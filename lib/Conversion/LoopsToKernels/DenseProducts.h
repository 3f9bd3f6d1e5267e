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
  /// Of f32 or f64; each of the factors may be stored the other way round. What
  /// is done before and behind the sum touches the element alone.
  static std::optional<DenseProduct> match(const KernelNest &nest);

  /// Whether tiles are worth it: a value of the host.
  mlir::Value createIsLarge(mlir::OpBuilder &builder) const;

  /// Builds a kernel of tiles in place of the nest, which is left as it is. A
  /// block computes a square of the result; it has a strip of both factors in
  /// shared memory at a time, and each thread a square of sums in registers
  /// (the scheme of Volkov and Demmel, SC 2008). The terms of a sum are added
  /// in their order.
  void createTiles(mlir::RewriterBase &rewriter) const;

private:
  /// A factor, and which of its indices runs over the sum.
  struct Factor {
    mlir::memref::LoadOp load;
    bool isSumLast;
  };

  explicit DenseProduct(const KernelNest &nest) : nest(nest) {}
  bool matchFactor(mlir::Value value, mlir::Value outer, Factor &factor) const;

  KernelNest nest;
  mutable mlir::scf::ForOp sum;
  Factor left, right;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DENSEPRODUCTS_H
