//===- TransposeInlining.h - transposes in a linear program -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_TRANSPOSEINLINING_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_TRANSPOSEINLINING_H

#include "Linearization.h"
#include "SparseAutograd/Differentiate/Derivative.h"

namespace sparse_autograd {

/// Puts, for each linear_transpose of the linear program in `body`, what
/// `getTranspose` gives in its place, linearized: transposed, that is the
/// callee again, evaluated under the support of its cotangents (semantics G2).
/// Where there is none the op stays, whose transpose is a call of the callee.
///
/// `linearizer` has made the linear program, and is not used to make more of
/// it.
llvm::LogicalResult inlineTransposes(mlir::Block &body,
                                     ProgramLinearizer &linearizer,
                                     TransposeProvider getTranspose);

/// Whether the results of `transposed`, the transpose of a function by the
/// arguments `wrt`, depend on the extents and the patterns of these alone: the
/// function is linear in them.
bool isTransposeOfLinear(mlir::func::FuncOp transposed,
                         llvm::ArrayRef<int64_t> wrt);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_TRANSPOSEINLINING_H
