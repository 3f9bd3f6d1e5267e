//===- Passes.h - checks between phases -------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_PIPELINES_PASSES_H
#define SPARSEAUTOGRAD_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL
#include "SparseAutograd/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "SparseAutograd/Pipelines/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_PIPELINES_PASSES_H
