//===- Slices.h - slices that may be empty ----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_SLICES_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_SLICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace sparse_autograd {

/// A slice of `source`, of type `type`. MLIR's verifier has an empty slice
/// begin inside of its source, where an extent of 0 leaves no room: then it is
/// an empty tensor.
mlir::Value createSlice(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::RankedTensorType type, mlir::Value source,
                        llvm::ArrayRef<mlir::OpFoldResult> offsets,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes,
                        llvm::ArrayRef<mlir::OpFoldResult> strides);

/// `destination` with a slice of it replaced by `slice`; as it is, if `slice`
/// is empty whatever the arguments of the program are.
mlir::Value replaceSlice(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value slice, mlir::Value destination,
                         llvm::ArrayRef<mlir::OpFoldResult> offsets,
                         llvm::ArrayRef<mlir::OpFoldResult> sizes,
                         llvm::ArrayRef<mlir::OpFoldResult> strides);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_SLICES_H
