//===- LaneLoops.h - loops that lanes of a warp share -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_LANELOOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_LANELOOPS_H

#include "KernelNest.h"

namespace sparse_autograd {

/// Whether `op` is a loop that lanes share, by its schedule.
bool isShared(mlir::Operation *op);

/// Has so many lanes share the loop `op`, in the words of `Schedule::lanes`.
void setLanes(mlir::Operation *op, int64_t lanes);

/// Has eight lanes share `loop`, however long it is, if lanes share it: those
/// of four groups in a warp read a sector of memory each.
void shareAmongEight(mlir::scf::ForOp loop);

/// Whether `op` is such a loop, or has one in it.
bool containsShared(mlir::Operation *op);

/// Iterations of the longest of the shared loops, on average over the `count`
/// iterations of `nest` and at most, as far as that is known before the kernel
/// runs: builds code of the host before the nest. Null if nothing is known.
mlir::Value createLongestShared(mlir::OpBuilder &builder,
                                const KernelNest &nest, mlir::Value count);

/// Has the lanes of a group do the ops of `block` of a kernel together: `lane`
/// of `lanes`, which are neighbours in a warp. Each does all of them but the
/// shared loops, of which it does every `lanes`th iteration, and stores and
/// what such a loop begins with, which are the first lane's. What shared loops
/// carry the lanes combine by shuffles, in an order that is that of the lanes
/// alone; where one reads what others may have written, or the other way round,
/// they wait for each other.
void shareLoops(mlir::RewriterBase &rewriter, mlir::Block *block,
                mlir::Value lane, mlir::Value lanes);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_LANELOOPS_H
