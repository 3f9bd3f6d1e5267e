//===- CotangentConstants.h - constants in cotangents -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTCONSTANTS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTCONSTANTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Multiplies cotangents of f32 and f64 by one constant instead of several, in
/// `derivative`, which was built just now and has its marks: the 2 of a square
/// and the -1/2 of the root that it is under are a negation. Only where the
/// product of the constants is exact, and where the least elements are
/// multiplied.
void combineCotangentConstants(mlir::func::FuncOp derivative);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTCONSTANTS_H
