//===- GatherRule.h - elements read at computed positions -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GATHERRULE_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GATHERRULE_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// Whether `op` does nothing with `source`, a tensor that its region reads,
/// but extract one element at each iteration and yield it.
bool isGatherOf(mlir::linalg::LinalgOp op, mlir::Value source);

/// Adds the cotangent of `source`, of which the linear `op` is a gather: loops
/// that add each element where it was read, one after the other, so that what
/// is read several times gets the sum.
void transposeGather(mlir::linalg::LinalgOp op, mlir::Value source,
                     Transposer &transposer);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GATHERRULE_H
