//===- ProductElement.h - an element of a contraction -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an iteration of a parallel loop over the elements of a contraction does,
// on tensors or buffers; what tiles compute of it is an `inner_product`.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_PRODUCTELEMENT_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_PRODUCTELEMENT_H

#include "SparseAutograd/Analysis/Contraction.h"

namespace sparse_autograd {

/// The indices of an operand of a contraction at `variables` of its loops. The
/// loop `term` has none: its dimension is returned, -1 if there is none.
int64_t getElementIndices(mlir::linalg::LinalgOp op, mlir::OpOperand *operand,
                          unsigned term, mlir::ArrayRef<mlir::Value> variables,
                          llvm::SmallVectorImpl<mlir::Value> &indices);

/// Builds an element of the result of `contraction`, which was `init`. Its sum
/// of products is what `createSum` makes of the number that it begins with; a
/// scale and weights, elements that `load` reads, multiply it as a whole
/// (semantics G11).
mlir::Value createProductElement(
    mlir::OpBuilder &builder, const Contraction &contraction, mlir::Value init,
    llvm::function_ref<mlir::Value(mlir::Value begin)> createSum,
    llvm::function_ref<mlir::Value(mlir::OpOperand *weight)> load);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_PRODUCTELEMENT_H
