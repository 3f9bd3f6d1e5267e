//===- GenericTangent.h - the tangent of linalg.generic ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GENERICTANGENT_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GENERICTANGENT_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// Sets the tangents of the results of `op`, on tensors: a generic over the
/// same space that also reads the tangents of the operands.
llvm::LogicalResult linearizeGeneric(mlir::linalg::LinalgOp op,
                                     Linearizer &linearizer);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_GENERICTANGENT_H
