//===- BufferizeStorageOps.h - storage of sparse tensors --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_BUFFERIZESTORAGEOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_BUFFERIZESTORAGEOPS_H

#include "mlir/IR/DialectRegistry.h"

namespace sparse_autograd {

/// Lets one-shot bufferization take `sort_entries`, `count_positions` and
/// `store_positions` to buffers.
void registerStorageOpBufferization(mlir::DialectRegistry &registry);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_BUFFERIZESTORAGEOPS_H
