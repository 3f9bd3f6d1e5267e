//===- KernelOps.h - what kernels do, and what the host does ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_KERNELOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_KERNELOPS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Whether the iterations of the loop `op` may run at once, each in a thread.
bool isParallelLoop(mlir::Operation *op);

/// Whether `op` is control flow that the host runs: there are parallel loops or
/// structured ops in it, each a kernel of its own, or what no kernel can do,
/// such as an allocation. Any other loop or branch is done by one thread.
bool isHostControlFlow(mlir::Operation *op);

/// Calls `visit` with each memref whose elements `op`, or an op in it, reads or
/// writes by a load, a store or a copy.
void forEachAccess(mlir::Operation *op,
                   llvm::function_ref<void(mlir::Value)> visit);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_KERNELOPS_H
