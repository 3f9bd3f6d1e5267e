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
#include "llvm/ADT/MapVector.h"

namespace sparse_autograd {

/// Marks the loops in `root` of which a thread is to do neighbouring iterations
/// (`vector` of their schedule): the innermost parallel loop of a kernel whose
/// lanes share nothing, and loops that lanes share. Where their lengths are
/// known when the program runs it has a kernel for both, if the body has loops.
void markVectors(mlir::RewriterBase &rewriter, mlir::Operation *root);

/// How many iterations of `loop` a thread does at once, by its schedule.
int64_t getVectorLength(mlir::Operation *loop);

/// Has a thread do `length` iterations of `loop` at once.
void setVectorLength(mlir::Operation *loop, int64_t length);

/// Has `loop` do `length` iterations in one: `ops` are those of its body that
/// an iteration does, and `first`, in front of them, is its number. What the
/// loop carries goes from one to the next.
void repeatIteration(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
                     llvm::ArrayRef<mlir::Operation *> ops, mlir::Value first,
                     int64_t length);

/// Buffers, and how many of their elements a thread accesses at once.
using VectorBuffers = llvm::MapVector<mlir::Value, int64_t>;

/// Those that the marked loops of a kernel access.
VectorBuffers getVectorBuffers(mlir::Operation *kernel);

/// Tells the compiler of a kernel that they begin at multiples of 16 bytes, as
/// all does that the runtime allocates, and that their rows have the length
/// that marked loops say they have.
void assumeAlignment(mlir::RewriterBase &rewriter, mlir::gpu::LaunchOp kernel,
                     const VectorBuffers &buffers);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_VECTORS_H
