//===- MatrixProduct.h - products of matrices under a mask ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The transpose of a product of matrices is a product of matrices, which has a
// kernel of its own as long as nothing else stands in its region. So a mask on
// the cotangent of its result stays outside: the cotangent is selected before,
// the coefficient is freed from what only masked-out elements would meet, and
// the part of the mask that ranges over the other factor goes on as its
// support.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_MATRIXPRODUCT_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_MATRIXPRODUCT_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// A sum of products of two tensors that is linear in one of them:
/// `result(m, n) += factor(m, k) * coefficient(n, k)`, in any order of the
/// dimensions, each kind there at least once, and batch dimensions besides.
struct MatrixProduct {
  mlir::OpOperand *factor, *coefficient;
};

/// `op` as a product that is linear in one factor, if it is one. `isLinear`
/// says which of its operands are linear.
std::optional<MatrixProduct>
matchMatrixProduct(mlir::linalg::GenericOp op,
                   llvm::function_ref<bool(mlir::Value)> isLinear);

/// Whether `mask` is known to be computed from floating-point values alone, as
/// that of a relu is, or to be where a sparse tensor stores something. What
/// such a mask leaves out nobody has asked to leave out; a product with a
/// cotangent that is stored at a pattern skips the rest by itself.
bool isComputedFromFloats(mlir::Value mask);

/// Where a mask selects anything, along the dimensions that an operand ranges
/// over too: the support of that operand. `mask` and `operand` map the loops of
/// one op to the dimensions of the mask and of the operand, both projected
/// permutations. Everywhere if they share no dimension of the mask.
Support projectMask(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, mlir::AffineMap mask,
                    mlir::AffineMap operand);

/// Whether all dimensions of a mask are dimensions of the operand.
bool coversMask(mlir::AffineMap operand, mlir::AffineMap mask);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_MATRIXPRODUCT_H
