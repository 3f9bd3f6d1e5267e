//===- Unroll.h - iterations that a thread does together --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_UNROLL_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_UNROLL_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// Has LLVM unroll `loop` so many times; once leaves it as it is.
void limitUnrolling(mlir::scf::ForOp loop, int32_t times);

/// Whether an iteration with that body is nothing but reads, arithmetic and
/// writes, and few enough that a thread has registers for several.
bool canInterleave(mlir::Block &body);

/// Has `loop`, from zero on by one, do four of its iterations together, of
/// which any two may run at once: first all of them read, then all write. LLVM
/// does not do that, since it cannot tell what one writes from what the next
/// one reads, and a thread that waits for each element leaves the memory idle.
///
///     for t in 0 .. n / 4: four iterations, op by op
///     for t in n / 4 * 4 .. n: one
void interleave(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop);

/// How many.
constexpr int64_t interleavedIterations = 4;

/// What a thread has to do for each iteration, at most, so that several have
/// place in its registers.
constexpr unsigned mostOps = 64, mostAccesses = 8;

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_UNROLL_H
