//===- AdjointIdentity.h - forward mode against reverse mode ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_ADJOINTIDENTITY_H
#define SPARSEAUTOGRAD_LIB_RUNNER_ADJOINTIDENTITY_H

#include "DerivativeLine.h"
#include "SparseAutograd/Runner/GradientCheck.h"

namespace sparse_autograd {

/// Checks that <J v, u> = <v, J^T u>, where J is the Jacobian of one result by
/// the argument of `line`, v the direction of the line, and u the cotangent,
/// with a weight for each element of the result. Elements that are not finite
/// at the point have no derivative and are left out. Needs no differences.
///
/// The error and its bound, relative to the magnitudes of the products, and the
/// verdict go into `pair`, which is that of the argument and the result. Fails
/// if a call of the function does.
llvm::Error checkAdjointIdentity(const CheckedFunction &function,
                                 const DerivativeLine &line, size_t result,
                                 Elements cotangent, PairCheck &pair);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_ADJOINTIDENTITY_H
