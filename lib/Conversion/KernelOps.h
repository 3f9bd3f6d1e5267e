//===- KernelOps.h - what kernels do, and what the host does ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_KERNELOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_KERNELOPS_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Threads of a block of a kernel that loops become, at most, and of a warp.
constexpr int64_t blockThreads = 256, warpSize = genericGPU.warpSize;

/// Says how many blocks of the `gpu.launch` `op` should fit a multiprocessor,
/// as its kernel will say it to the assembler (`nvvm.minctasm`). They have at
/// most `blockThreads` threads. A thread has 64 registers if four do, 128 if
/// two do.
void setBlocksAtOnce(mlir::Operation *op, int32_t blocks);

/// Whether the iterations of the loop `op` may run at once, each in a thread.
bool isParallelLoop(mlir::Operation *op);

/// Whether `op` is within such a loop: on a GPU, part of a kernel.
bool isInParallelLoop(mlir::Operation *op);

/// Whether `op` is control flow that the host runs: there are parallel loops or
/// structured ops in it, each a kernel of its own, or what no kernel can do,
/// such as an allocation. Any other loop or branch is done by one thread.
bool isHostControlFlow(mlir::Operation *op);

/// A load, a store, a side of a copy, or a factor of an inner product.
struct Access {
  mlir::Operation *op;
  mlir::Value memref;
  /// Empty of what accesses elements all over the buffer.
  mlir::ValueRange indices;
  bool isWrite;
  /// Of a vector: so many of the last indices are where its elements begin.
  unsigned numVectorDims = 0;
};

using Accesses = llvm::SmallVector<Access>;

/// Those of `op` and of the ops in it.
Accesses getAccesses(mlir::Operation *op);

/// Whether `op`, or an op in it, reads or writes elements on the device.
bool accessesDevice(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_KERNELOPS_H
