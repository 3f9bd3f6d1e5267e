//===- LoopReductions.h - what loops add up ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPREDUCTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPREDUCTIONS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// The binary op by which `loop` combines what it carries at `number` with
/// something of each iteration, directly or within branches and loops of its
/// body; null if it does anything else with it, or if parts of the iterations
/// must not be combined on their own, in any order, from the neutral element of
/// the op: sums and products of floats must be marked `reassoc`.
mlir::Operation *getCombiner(mlir::scf::ForOp loop, unsigned number);

/// Whether the iterations of `loop` may be done in any order, and at once if
/// what they carry is combined afterwards: it is parallel, or it writes
/// nothing, and what it carries has combiners.
bool isReorderable(mlir::scf::ForOp loop);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPREDUCTIONS_H
