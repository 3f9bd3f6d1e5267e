//===- UpdateChains.h - long chains of updates of a tensor ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_UPDATECHAINS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_UPDATECHAINS_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"

namespace sparse_autograd {

/// Gives each long chain of updates of a tensor in `root` its buffer, and has
/// every few updates hand it to the next through that buffer: the analysis of
/// MLIR compares every access of a buffer with every write to it, for each
/// access, and takes the parts of the chain for different buffers then.
///
/// A chain starts from an empty tensor or a constant; each of its values but
/// the last has one use, as the destination of an op in the same block: a
/// gradient to which the uses of a parameter add one by one, or into which
/// those of slices are inserted.
mlir::LogicalResult
cutUpdateChains(mlir::Operation *root,
                const mlir::bufferization::BufferizationOptions &options);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOBUFFER_UPDATECHAINS_H
