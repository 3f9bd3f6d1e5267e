//===- FuseKernels.h - parallel loops over the same rows as one -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_FUSEKERNELS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_FUSEKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Which loops over the same rows become one.
enum class RowFusion {
  /// On a device: not what is cut into chunks of entries with what needs whole
  /// rows.
  OfChunks,
  /// On a device: these too.
  Whole,
  /// On the CPU: those of which one visits the entries of its rows.
  OfEntries
};

/// Makes one parallel loop of several over the same rows in `block`, which is
/// in `function`, and in the blocks of its control flow.
void fuseParallelLoops(mlir::RewriterBase &rewriter,
                       mlir::func::FuncOp function, mlir::Block &block,
                       RowFusion rows);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_FUSEKERNELS_H
