//===- GenericTranspose.h - the transpose of linalg.generic -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GENERICTRANSPOSE_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GENERICTRANSPOSE_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// Adds the cotangents of the linear operands of `op`: for each a generic over
/// the same space that writes through the map of that operand.
llvm::LogicalResult transposeGeneric(mlir::linalg::LinalgOp op,
                                     Transposer &transposer);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GENERICTRANSPOSE_H
