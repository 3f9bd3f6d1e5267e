//===- ForwardStores.h - elements that stay in registers --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_FORWARDSTORES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_FORWARDSTORES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Replaces loads in `block`, and in the regions of its ops, of elements that
/// the same iteration has stored or loaded before by the values, and erases
/// stores that another one overwrites unread. Elements are the same ones if the
/// indices are the same values.
void forwardStores(mlir::RewriterBase &rewriter, mlir::Block &block);

/// Erases the buffers that `function` allocates, and writes, and never reads.
void eraseUnreadBuffers(mlir::RewriterBase &rewriter,
                        mlir::func::FuncOp function);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_FORWARDSTORES_H
