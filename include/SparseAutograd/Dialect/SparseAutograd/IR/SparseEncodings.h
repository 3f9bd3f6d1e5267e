//===- SparseEncodings.h - encodings that are lowered -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEENCODINGS_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEENCODINGS_H

#include "SparseAutograd/Runtime/LevelFormats.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace sparse_autograd {

/// The record of the format of `level`; the unknown one if the table of level
/// formats does not have it.
const LevelFormatInfo &getFormat(mlir::sparse_tensor::LevelType level);
LevelKind getLevelKind(mlir::sparse_tensor::LevelType level);

/// Whether the levels of `encoding` are known, and each may follow the one
/// before it.
bool areLevelsValid(mlir::sparse_tensor::SparseTensorEncodingAttr encoding);

/// A list of storage: the positions or the coordinates of a level.
struct LevelList {
  unsigned level;
  bool hasPositions;
  mlir::Type elementType;
};

/// The lists of storage before its values, in their order.
llvm::SmallVector<LevelList>
getLevelLists(mlir::sparse_tensor::SparseTensorEncodingAttr encoding);

/// Checks that tensors of `type`, which has an encoding, can be stored and
/// lowered: levels of formats in the table, where singletons are singleton(soa)
/// below levels whose coordinates repeat, ordered, of dimensions or of blocks
/// of them. If not, `report` begins a diagnostic that says why, as in
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
