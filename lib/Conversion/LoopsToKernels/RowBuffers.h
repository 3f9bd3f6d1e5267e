//===- RowBuffers.h - buffers that rows use one by one ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists of entries that a fused loop over rows writes and reads row by row.
// FuseKernels calls it: before fusion a list is written as a whole before it is
// read.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_ROWBUFFERS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_ROWBUFFERS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Erases stores to lists of `rows` that no iteration reads, and gives two
/// lists one buffer where the first has been read, entry by entry, when the
/// second is written: what a softmax computes of its exponentials takes their
/// place. A remark says so.
void shareRowBuffers(mlir::RewriterBase &rewriter, mlir::scf::ForOp rows);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_ROWBUFFERS_H
