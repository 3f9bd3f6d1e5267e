//===- CombineHalves.h - lanes of a vector combined -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions over the lanes of a vector, in an order that the number of lanes
// alone decides: that of vector.reduction depends on the target. Called by the
// passes that make vectors of sums.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_COMBINEHALVES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_COMBINEHALVES_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sparse_autograd {

/// Combines the halves of `vector` by `combine` until it has `count` lanes.
/// `vector` has rank 1, and `count` times a power of two lanes.
mlir::Value combineHalves(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector,
    int64_t count,
    llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_COMBINEHALVES_H
