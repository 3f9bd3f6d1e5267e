//===- ArithmeticCost.h - what an operation costs to compute ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_ARITHMETICCOST_H
#define SPARSEAUTOGRAD_ANALYSIS_ARITHMETICCOST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// The cost of an elementary function.
inline constexpr int64_t elementaryFunctionCost = 16;

/// The cost of one execution of `op` on scalars, in additions: a constant costs
/// nothing, a division 4, an exponential or a logarithm 16. The weights are
/// those of vector code: a polynomial for the exponential is about 16 additions
/// long. Regions are not looked into.
int64_t getArithmeticCost(mlir::Operation &op);

/// What `op` adds to an iteration of a loop over elements, which costs 1, about
/// the time of an addition that waits for memory: a division 2, an elementary
/// function 8, and other arithmetic nothing.
int64_t getCostBesideMemory(mlir::Operation &op);

/// The cost of one execution of the body of `op`.
int64_t getBodyCost(mlir::linalg::LinalgOp op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_ARITHMETICCOST_H
