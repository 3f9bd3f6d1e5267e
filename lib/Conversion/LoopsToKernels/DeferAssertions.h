//===- DeferAssertions.h - assertions in kernels ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DEFERASSERTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DEFERASSERTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// A kernel that stops leaves a device that cannot be used any more. Has the
/// assertions in the kernels (`gpu.launch`) of `function` keep the number of
/// the first that fails, in the order of the program, and leave out what
/// follows them in their block; and the host assert that there is none, before
/// the function returns and before it calls what works on a tensor that kernels
/// have written. Fails, having said so, where what is left out is a buffer.
llvm::LogicalResult deferAssertions(mlir::func::FuncOp function);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_DEFERASSERTIONS_H
