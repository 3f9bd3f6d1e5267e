//===- ResidualTypes.h - residuals become the values they stand for -*- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RESIDUALTYPES_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RESIDUALTYPES_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/IR/BuiltinOps.h"

namespace sparse_autograd {

/// Replaces each value of type `residuals` in `module` by values of `types`.
/// They go through functions and calls and through the ops of scf; any other op
/// that reads or makes them is an error.
llvm::LogicalResult replaceResiduals(mlir::ModuleOp module,
                                     ResidualsType residuals,
                                     llvm::ArrayRef<mlir::Type> types);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RESIDUALTYPES_H
