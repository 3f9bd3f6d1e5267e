//===- Vectors.h - neighbouring iterations of a thread ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that does several iterations next to one another accesses their
// elements with one instruction, of up to 16 bytes, and does once what they
// share, such as what is read of an entry of a sparse matrix (vector memory
// operations: Gale, Zaharia, Young and Elsen, "Sparse GPU Kernels for Deep
// Learning", SC 2020).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_VECTORS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_VECTORS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// Whether neighbouring values of `variable` are neighbouring ones of `index`.
bool isSideBySide(mlir::Value index, mlir::Value variable);

/// Marks the loops in `root` of which a thread is to do neighbouring iterations
/// (`sparse_autograd.vector`): the innermost parallel loop of a kernel whose
/// lanes share nothing, and loops that lanes share.
void markVectors(mlir::Operation *root);

/// How many iterations of `loop` a thread does at once; 1 if it is not marked.
int64_t getVectorLength(mlir::Operation *loop);

/// Repeats `ops`, which are one iteration of `loop`, in its body for those
/// behind it, until there are `length`; `first` is the variable of it.
void repeatIteration(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
                     llvm::ArrayRef<mlir::Operation *> ops, mlir::Value first,
                     int64_t length);

/// Whether `op`, or a loop in it, is marked.
bool containsVector(mlir::Operation *op);

/// Tells the compiler of the kernel how the buffers that it accesses are
/// aligned, as all that the runtime allocates is.
void assumeAlignment(mlir::RewriterBase &rewriter, mlir::gpu::LaunchOp kernel);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_VECTORS_H
