//===- Passes.h - differentiation passes ------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_PASSES_H
#define SPARSEAUTOGRAD_DIFFERENTIATE_PASSES_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

#define GEN_PASS_DECL
#include "SparseAutograd/Differentiate/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "SparseAutograd/Differentiate/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_PASSES_H
