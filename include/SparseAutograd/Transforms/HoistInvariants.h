//===- HoistInvariants.h - compute what a loop repeats once -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_HOISTINVARIANTS_H
#define SPARSEAUTOGRAD_TRANSFORMS_HOISTINVARIANTS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// What the region of a linalg.generic computes from operands that do not range
/// over all of its loops becomes a linalg.generic over the loops that they
/// range over, if the operands are dense and one of them is as large. A factor
/// of a cotangent of a sum is then applied once to a row, and a product of
/// matrices with one is a product of matrices.
void populateHoistInvariantsPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_HOISTINVARIANTS_H
