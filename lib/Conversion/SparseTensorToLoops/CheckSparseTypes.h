//===- CheckSparseTypes.h - types of sparse tensors ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes on sparse tensors take for granted of their types.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_CHECKSPARSETYPES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_CHECKSPARSETYPES_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Whether an operand or a result of `op` is a sparse tensor.
bool hasSparseType(mlir::Operation *op);

/// Checks the types of all values in `module`: encodings, and types of
/// sparse_tensor that are no tensors, as storage specifiers. A failure has
/// emitted a diagnostic on the op that defines the value.
llvm::LogicalResult checkSparseTypes(mlir::Operation *module);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_CHECKSPARSETYPES_H
