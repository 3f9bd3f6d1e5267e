//===- StoreIntoZeros.h - sums that begin and end at once -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_STOREINTOZEROS_H
#define SPARSEAUTOGRAD_TRANSFORMS_STOREINTOZEROS_H

#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// A loop that adds to another part of a tensor of zeros in each iteration
/// stores there instead, as the adjoint of a loop does that reads one row after
/// the other. So does a program that adds to one slice after the other, where
/// these are constant and have no element in common. A sum of -0 alone is then
/// -0.
void populateStoreIntoZerosPatterns(mlir::RewritePatternSet &patterns);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_STOREINTOZEROS_H
