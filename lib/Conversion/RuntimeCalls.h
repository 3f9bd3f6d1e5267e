//===- RuntimeCalls.h - calls of the runtime from memrefs -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_RUNTIMECALLS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_RUNTIMECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// The function `name` of the runtime, which has no results, in `symbols`;
/// declared there if it is not yet.
mlir::func::FuncOp declareRuntimeFunction(mlir::SymbolTable &symbols,
                                          llvm::StringRef name,
                                          mlir::TypeRange arguments);

/// The index `index` as the runtime takes it.
mlir::Value toI64(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value index);

/// The address of the element of the buffer of `memref` that is `offset`
/// elements from where it begins.
mlir::Value getElementPointer(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value memref, mlir::Value offset);

/// Whether `type` is a memref in the global memory of a device
/// (`#gpu.address_space<global>`).
bool isOnDevice(mlir::Type type);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_RUNTIMECALLS_H
