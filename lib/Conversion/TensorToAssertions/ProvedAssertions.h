//===- ProvedAssertions.h - use what assertions prove -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_PROVEDASSERTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_PROVEDASSERTIONS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Uses every assertion below `root` in what it dominates: of two extents that
/// it says to be equal one takes the place of the other, so that what the same
/// elements are computed over is the same value, and the assertions that follow
/// from it are erased.
void useAssertions(mlir::Operation *root);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_PROVEDASSERTIONS_H
