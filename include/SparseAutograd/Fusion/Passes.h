//===- Passes.h - fusion of tensor programs ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_FUSION_PASSES_H
#define SPARSEAUTOGRAD_FUSION_PASSES_H

#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL
#include "SparseAutograd/Fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "SparseAutograd/Fusion/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_FUSION_PASSES_H
