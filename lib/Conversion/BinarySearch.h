//===- BinarySearch.h - loops that search a list ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_BINARYSEARCH_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_BINARYSEARCH_H

#include "mlir/IR/Builders.h"

namespace sparse_autograd {

/// The first place in [begin, end] that `isBefore` does not hold for; it holds
/// for those before that place, and is not asked for `end`.
mlir::Value createBinarySearch(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value begin,
    mlir::Value end,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> isBefore);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_BINARYSEARCH_H
