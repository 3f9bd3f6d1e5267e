//===- SparseRules.h - derivatives of ops on sparse tensors -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_SPARSERULES_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_SPARSERULES_H

#include "mlir/IR/MLIRContext.h"

namespace sparse_autograd {

/// Attaches the rules of the ops on sparse tensors of the dialect.
void attachSparseRules(mlir::MLIRContext &context);

/// Attaches the rules of the ops on rows of tables.
void attachRowRules(mlir::MLIRContext &context);

/// Attaches the rules of 2:4 selection.
void attachSelectionRules(mlir::MLIRContext &context);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_SPARSERULES_H
