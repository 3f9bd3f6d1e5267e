//===- KernelCounts.h - counts that kernels alone need ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_KERNELCOUNTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_KERNELCOUNTS_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace sparse_autograd {

/// The reads of what `op` counts, if the host can do without while there are
/// kernels to launch: where the count ends parallel loops, is read in them, or
/// gives the length of lists that only they access, or that are returned. The
/// host can do with the largest number that it can be, which is that of the
/// entries. Nothing if the host needs a count before.
std::optional<llvm::SmallVector<mlir::memref::LoadOp>>
findKernelCounts(CountPositionsOp op);

/// Puts `count` in the place of what `load` reads, and makes lists as long as
/// they are if that is `most`. Of a list that is returned it is what there is,
/// by the count that `readAtEnd` gives right before that.
void replaceKernelCount(mlir::memref::LoadOp load, mlir::Value count,
                        mlir::Value most,
                        llvm::function_ref<mlir::Value()> readAtEnd);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_KERNELCOUNTS_H
