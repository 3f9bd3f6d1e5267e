//===- Packing24.h - 2:4 tensors on components ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_PACKING24_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_PACKING24_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Transforms/DialectConversion.h"

namespace sparse_autograd {

/// Whether `op` makes a tensor that stores two of each four elements of a dense
/// one, which the runtime packs.
bool isPackedByRuntime(mlir::sparse_tensor::ConvertOp op);

/// A copy into another storage, as a structured op.
void lowerConvert(mlir::sparse_tensor::ConvertOp op);

/// Patterns for what makes 2:4 tensors of dense ones: ops on lists that the
/// runtime computes or, `forDevice`, structured ops.
void populatePacking24Patterns(const mlir::TypeConverter &types, bool forDevice,
                               mlir::RewritePatternSet &patterns);

/// Has a contraction read the transpose of a 2:4 factor that a choice for both
/// orders was made of, where the groups of that lie along the sum and those of
/// the factor do not: as the gradient of the other factor, dX = dY W. Both
/// orders are packed in one pass.
void readPackedTranspose(mlir::IRRewriter &rewriter, mlir::linalg::LinalgOp op);

/// Builds `multiply_24` for a contraction one factor of which stores two of
/// each four elements, and gives its result; null for any other op, and for
/// contractions that loops compute, of which a remark says why. `operands` are
/// the components of the operands, `strategy` that of the op.
mlir::Value lowerProduct24(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                           llvm::ArrayRef<mlir::ValueRange> operands,
                           int64_t strategy);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_PACKING24_H
