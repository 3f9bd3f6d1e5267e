//===- Normalization.h - the form that is differentiated --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATION_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Brings `function` into the form that few rules cover: calls of functions
/// with floating operands are inlined, those of a checkpoint into an
/// scf.execute_region with `no_inline`; elementwise ops on tensors and linalg's
/// named ops become linalg.generic; reductions by max, min and mul become an
/// elementwise op and a masked_reduce (semantics G12); what is read at computed
/// positions is gathered by a linalg.generic that does nothing else; branches
/// are scf.if.
///
/// Fails, with a diagnostic, for unstructured control flow and for recursion
/// (semantics G13).
llvm::LogicalResult normalizeForDifferentiation(mlir::func::FuncOp function);

/// Puts the block of each scf.execute_region below `root` that has one only in
/// the place of the op: what a checkpoint has computed need not stay together
/// once no derivative is taken of it in reverse.
void inlineRegions(mlir::Operation *root);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_NORMALIZATION_H
