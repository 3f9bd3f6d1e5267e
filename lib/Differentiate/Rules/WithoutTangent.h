//===- WithoutTangent.h - ops whose results have no tangent -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_WITHOUTTANGENT_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_WITHOUTTANGENT_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

namespace sparse_autograd {

/// The rule of an op that has no float operand, or no float result.
template <typename Op>
struct WithoutTangentModel
    : LinearizableOpInterface::ExternalModel<WithoutTangentModel<Op>, Op> {
  llvm::LogicalResult linearize(mlir::Operation *, Linearizer &) const {
    return llvm::success();
  }
};

template <typename... Ops>
void attachWithoutTangent(mlir::MLIRContext &context) {
  (Ops::template attachInterface<WithoutTangentModel<Ops>>(context), ...);
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_WITHOUTTANGENT_H
