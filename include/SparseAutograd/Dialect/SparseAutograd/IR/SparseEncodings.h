//===- SparseEncodings.h - encodings that are lowered -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEENCODINGS_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEENCODINGS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace sparse_autograd {

/// Checks that tensors of `type`, which has an encoding, can be stored and
/// lowered: levels that are dense, compressed, loose_compressed, or
/// singleton(soa) below compressed(nonunique), ordered, of dimensions or of
/// blocks of them. If not, `report` begins a diagnostic that says why, as in
/// "has type ..., whose level 1 is not ordered".
llvm::LogicalResult
checkEncoding(mlir::RankedTensorType type,
              llvm::function_ref<mlir::InFlightDiagnostic()> report);

/// The types of the components that lower-sparse makes of a tensor of `type`:
/// the positions and coordinates of each level that has them, in the order of
/// levels, the values, and the extents that `type` leaves open.
llvm::SmallVector<mlir::Type> getComponentTypes(mlir::RankedTensorType type);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEENCODINGS_H
