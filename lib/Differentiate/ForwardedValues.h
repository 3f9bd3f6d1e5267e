//===- ForwardedValues.h - values that control flow forwards ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FORWARDEDVALUES_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FORWARDEDVALUES_H

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace sparse_autograd {

/// Calls `edge(source, target)` for every pair of values that control flow of
/// `op` forwards one to the other: into, between and out of its regions.
void forEachForwardedValue(
    mlir::RegionBranchOpInterface op,
    llvm::function_ref<void(mlir::Value source, mlir::Value target)> edge);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FORWARDEDVALUES_H
