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

/// Makes one parallel loop of several over the same rows in `block`, which is
/// in `function`, and in the blocks of its control flow. With `wholeRows` what
/// is cut into chunks of entries otherwise is fused with what needs whole rows.
void fuseParallelLoops(mlir::RewriterBase &rewriter,
                       mlir::func::FuncOp function, mlir::Block &block,
                       bool wholeRows);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_FUSEKERNELS_H
