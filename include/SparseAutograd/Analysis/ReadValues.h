//===- ReadValues.h - what an operation reads -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_READVALUES_H
#define SPARSEAUTOGRAD_ANALYSIS_READVALUES_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// The values that `regions` read and that are defined outside of them, each
/// once. They need not dominate the regions: while a tangent is built, it reads
/// primal values where they are.
llvm::SetVector<mlir::Value>
getCapturedValues(llvm::MutableArrayRef<mlir::Region> regions);

/// Calls `callback` for every value that `op` or its regions read from outside
/// of it: its operands, and what its regions capture. A value may come twice.
void forEachReadValue(mlir::Operation *op,
                      llvm::function_ref<void(mlir::Value)> callback);

/// The same values in order, each once.
llvm::SetVector<mlir::Value> getReadValues(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_READVALUES_H
