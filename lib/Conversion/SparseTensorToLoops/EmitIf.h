//===- EmitIf.h - values carried past a condition ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_EMITIF_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_EMITIF_H

#include "mlir/IR/Builders.h"

namespace sparse_autograd {

/// Builds `inside` where `condition` holds, everywhere if it is null; elsewhere
/// what is carried stays. Returns what is carried on.
llvm::SmallVector<mlir::Value>
emitIf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition,
       mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> inside);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_EMITIF_H
