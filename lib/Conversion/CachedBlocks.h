//===- CachedBlocks.h - blocks that caches hold -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_CACHEDBLOCKS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_CACHEDBLOCKS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// A bound on `size`, an extent inside of `loop`, that is known before it; null
/// if there is none.
mlir::OpFoldResult getBoundBefore(mlir::scf::ForallOp loop,
                                  mlir::OpFoldResult size);

/// `loop` runs if the condition is true, and a copy of it otherwise.
void versionLoop(mlir::RewriterBase &rewriter, mlir::scf::ForallOp loop,
                 mlir::Value condition);

/// The bytes of an array of `sizes`, an index.
mlir::Value createByteCount(mlir::OpBuilder &builder, mlir::Location loc,
                            llvm::ArrayRef<mlir::OpFoldResult> sizes,
                            mlir::Type element);

/// The bytes of the memref `array`, an index.
mlir::Value createByteCount(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value array);

/// Whether the cache that a core has for itself holds `bytes`, an index, and as
/// much again several times.
mlir::Value createFitsInCache(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value bytes);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_CACHEDBLOCKS_H
