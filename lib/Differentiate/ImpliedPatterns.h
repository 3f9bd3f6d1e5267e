//===- ImpliedPatterns.h - selections that change nothing -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_IMPLIEDPATTERNS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_IMPLIEDPATTERNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Leaves out selections by the `pattern` of a sparse tensor in structured ops
/// of `derivative` that visit what it stores alone: ops on that pattern, and
/// those with a factor of that pattern. Cotangents have such supports where
/// dense tensors are read at a pattern; once they are stored at it themselves
/// the supports say nothing more.
void dropImpliedPatterns(mlir::func::FuncOp derivative);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_IMPLIEDPATTERNS_H
