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

/// Whether `op` stores two of each four elements of a dense tensor, of a type
/// that `pack_24` takes.
bool isCompression24(mlir::sparse_tensor::ConvertOp op);

/// A copy of `source` that is stored as `type` says, as a structured op.
mlir::Value createStoredCopy(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value source, mlir::RankedTensorType type);

/// Patterns for what makes 2:4 tensors of dense ones: ops on lists that the
/// runtime computes or, `forDevice`, structured ops.
void populatePacking24Patterns(const mlir::TypeConverter &types, bool forDevice,
                               mlir::RewritePatternSet &patterns);

/// Has a contraction read the transpose of a 2:4 factor that a choice for both
/// orders was made of, where the groups of that lie along the sum and those of
/// the factor do not: as the gradient of the other factor, dX = dY W. Both
/// orders are packed in one pass. Returns the contraction, or `op` as it is
/// where what the target has for 2:4 products does not take that.
mlir::linalg::LinalgOp readPackedTranspose(mlir::IRRewriter &rewriter,
                                           mlir::linalg::LinalgOp op,
                                           bool forDevice);

/// Builds `multiply_24` for a contraction one factor of which stores two of
/// each four elements, and gives its result; null for any other op, and for
/// contractions that loops compute, of which a remark says why. `operands` are
/// the components of the operands, `strategy` that of the op.
mlir::Value lowerProduct24(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                           llvm::ArrayRef<mlir::ValueRange> operands,
                           int64_t strategy);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_PACKING24_H
