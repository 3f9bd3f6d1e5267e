//===- MergeEqualOps.h - common subexpressions of deep nests ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_MERGEEQUALOPS_H
#define SPARSEAUTOGRAD_TRANSFORMS_MERGEEQUALOPS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Eliminates common subexpressions in `root`, which is isolated from above, as
/// MLIR's pass does, in about linear time where branches and loops are nested
/// deeply. Those are merged only if they hold the same ops before anything in
/// them is merged.
void mergeEqualOps(mlir::Operation *root);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_MERGEEQUALOPS_H
