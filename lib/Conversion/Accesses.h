//===- Accesses.h - accesses that may be of one place -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_ACCESSES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_ACCESSES_H

#include "KernelOps.h"
#include "mlir/Analysis/AliasAnalysis.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sparse_autograd {

/// Whether two buffers may overlap. One that is allocated is none that was
/// there before, also if a loop hands it to its next iteration under that name.
bool mayOverlap(mlir::AliasAnalysis &aliases, mlir::Value one,
                mlir::Value other);

/// Whether the buffers of two accesses may overlap and one of them is written;
/// then `isApart` is asked whether the places cannot be the same ones.
bool conflict(
    mlir::AliasAnalysis &aliases, llvm::ArrayRef<Access> some,
    llvm::ArrayRef<Access> others,
    llvm::function_ref<bool(const Access &, const Access &)> isApart = nullptr);

/// Whether neighbouring values of `variable` are neighbouring ones of `index`.
bool isSideBySide(mlir::Value index, mlir::Value variable);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_ACCESSES_H
