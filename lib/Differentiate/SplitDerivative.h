//===- SplitDerivative.h - a derivative in two functions --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_SPLITDERIVATIVE_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_SPLITDERIVATIVE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Gives `forward` and `backward` bodies that together compute what `joint`
/// does, the derivative of a function as `buildDerivative` makes it for `vjp`
/// with `numArguments` arguments before the cotangents and `numResults` results
/// before the gradients. `forward` takes the arguments and returns the results
/// and the residuals; `backward` takes the residuals and the cotangents and
/// returns the gradients. Both are declarations before; their types are set.
///
/// What is kept and what is computed again is the cheapest choice
/// (ResidualPlan). Residuals of more than `budget` bytes are made fewer by
/// computing more again; if that does not suffice, a warning says so. Extents
/// that are not static count as `estimates` says (Estimates.h). Remarks tell
/// what was chosen.
///
/// Returns the types of the residuals.
llvm::SmallVector<mlir::Type>
splitDerivative(mlir::func::FuncOp joint, unsigned numArguments,
                unsigned numResults, std::optional<int64_t> budget,
                mlir::func::FuncOp forward, mlir::func::FuncOp backward);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_SPLITDERIVATIVE_H
