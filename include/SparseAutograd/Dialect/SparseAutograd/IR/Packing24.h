//===- Packing24.h - ops that store two of four elements --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of SparseAutogradPackingOps.td, and the encoding that they store.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_PACKING24_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_PACKING24_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace sparse_autograd {

/// Whether tensors of `type` store two of each four elements along their last
/// dimension, in row-major order: all other levels are dense dimensions.
bool isPacked24(mlir::RankedTensorType type);

/// `type` with its last two dimensions exchanged; an encoding stays.
mlir::RankedTensorType getTransposedType(mlir::RankedTensorType type);

} // namespace sparse_autograd

#define GET_OP_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradPackingOps.h.inc"

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_PACKING24_H
