//===- Refused.h - ops without a derivative ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_REFUSED_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_REFUSED_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

namespace sparse_autograd {

/// Emits what the table of the rules says of a refused op.
llvm::LogicalResult reportRefused(mlir::Operation *op);

/// The rule of an op that is refused on the active path, with a diagnostic of
/// its own.
template <typename Op>
struct RefusedModel
    : LinearizableOpInterface::ExternalModel<RefusedModel<Op>, Op> {
  llvm::LogicalResult linearize(mlir::Operation *op, Linearizer &) const {
    return reportRefused(op);
  }
};

template <typename... Ops>
void attachRefused(mlir::MLIRContext &context) {
  (Ops::template attachInterface<RefusedModel<Ops>>(context), ...);
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_REFUSED_H
