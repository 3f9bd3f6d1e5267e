//===- SparseDenseProducts.h - SpMM and SDDMM for libraries --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of a sparse and a dense matrix (SpMM) and of dense matrices at a
// pattern (SDDMM) among structured ops, as libraries know them.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEPRODUCTTORUNTIME_SPARSEDENSEPRODUCTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEPRODUCTTORUNTIME_SPARSEDENSEPRODUCTS_H

#include "SparseAutograd/Analysis/Contraction.h"

namespace sparse_autograd {

/// Why a library has no matrix of `type` stored by the rows of one dimension
/// (CSR): its levels, or the types of its elements or of what places them.
/// Empty if it has.
std::string declineMatrix(mlir::RankedTensorType type);

/// A contraction with one sparse matrix S that a library may compute:
///
///     x(i, j) += scale * sum over k of weights(i) * S(i, k) * y(k, j)    SpMM
///     S(i, j) += scale * sum over k of x(i, k) * y(k, j)                SDDMM
struct SparseDenseProduct {
  Contraction contraction;
  bool isSampled = false;
  mlir::OpOperand *sparse = nullptr;
  /// Of SDDMM the factor with the rows, of SpMM the destination.
  mlir::OpOperand *x = nullptr;
  mlir::OpOperand *y = nullptr;
  /// Whether the dimensions of a matrix come in the other order.
  bool isXTransposed = false, isYTransposed = false;
};

/// Finds out what product `contraction` is. Returns why a library has none for
/// it; empty if `product` is one.
std::string matchSparseDenseProduct(const Contraction &contraction,
                                    SparseDenseProduct &product);

/// Has a library be asked for the product; the op of the contraction stays for
/// where there is none. Weights are multiplied with the elements of S before:
/// rows without any are left as they are (semantics G1).
void offerSparseDenseProduct(mlir::RewriterBase &rewriter,
                             const SparseDenseProduct &product);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEPRODUCTTORUNTIME_SPARSEDENSEPRODUCTS_H
