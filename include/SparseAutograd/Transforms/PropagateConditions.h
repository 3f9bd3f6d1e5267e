//===- PropagateConditions.h - conditions in their branches -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_PROPAGATECONDITIONS_H
#define SPARSEAUTOGRAD_TRANSFORMS_PROPAGATECONDITIONS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Replaces what is read of the condition of an `scf.if` in a branch of it by
/// the constant that it is there, in all of `root`. Takes the place of the
/// pattern of MLIR, which looks at every reader of a condition, and at all that
/// is around the reader, for each `scf.if` of that condition.
void propagateConditions(mlir::Operation *root);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_PROPAGATECONDITIONS_H
