//===- NewRows.h - rows of a new sparse tensor ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storage of a new tensor whose levels are dense but for the last one, which is
// compressed: CSR, CSC and their kin. Its rows, the segments of the last level,
// are as many as there are parents. A counter for each says how long the row
// is, then where it begins, then where its next entry goes, so that entries
// need no list and no sort. NewPattern.cpp and MoveEntries.cpp use it, and
// visit the entries of a row in the order of their coordinates.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_NEWROWS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_NEWROWS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sparse_autograd {

/// The rows of a new tensor. Its lists are built in this order:
/// `createCounters` and `count` in a first visit of the entries, `beginRows`,
/// `createPositions` and `createLists`, `addEntry` in a second visit,
/// `getComponents`.
class NewRows {
public:
  /// Why tensors of `type` do not consist of rows whose numbers fit the widths
  /// of positions and coordinates; empty if they do. A position that does not
  /// fit is an assertion of `createPositions`, a coordinate of 32 bits one of
  /// the constructor.
  static llvm::StringRef getReasonAgainst(mlir::RankedTensorType type);

  /// Whether the levels of tensors of `type` are dense but for the last one,
  /// which is compressed.
  static bool consistsOfRows(mlir::RankedTensorType type);

  /// For `type`, which `getReasonAgainst` has nothing against, with the extents
  /// of its dimensions.
  NewRows(mlir::OpBuilder &builder, mlir::Location loc,
          mlir::RankedTensorType type, mlir::ValueRange extents);

  mlir::Value getNumRows() const { return numRows; }
  /// The extent of the last level, and the dimension that it is.
  mlir::Value getNumColumns() const { return levelExtents.back(); }
  unsigned getColumnDim() const {
    return levels.getDimPosition(levels.getNumResults() - 1);
  }

  /// The number of the row of an entry whose dimensions have these coordinates.
  mlir::Value getRow(mlir::OpBuilder &builder, mlir::ValueRange indices) const;
  /// Its coordinate in the row, of the type that is stored.
  mlir::Value getCoordinate(mlir::OpBuilder &builder,
                            mlir::ValueRange indices) const;
  /// An index as a coordinate that is stored.
  mlir::Value toCoordinate(mlir::OpBuilder &builder, mlir::Value index) const;
  mlir::Type getCoordinateType() const { return coordinateType; }

  /// Counters, one for each row and one more, that are zero.
  mlir::Value createCounters(mlir::OpBuilder &builder) const;
  /// `counters` with one more entry in `row`.
  mlir::Value count(mlir::OpBuilder &builder, mlir::Value row,
                    mlir::Value counters) const;
  /// Replaces the lengths of rows by where they begin; the last one is the
  /// number of all entries.
  mlir::Value beginRows(mlir::OpBuilder &builder, mlir::Value counters) const;
  /// The positions that are stored, of where rows begin. Asserts that they fit
  /// their type.
  mlir::Value createPositions(mlir::OpBuilder &builder,
                              mlir::Value begins) const;
  /// The number of all entries.
  mlir::Value getNumEntries(mlir::OpBuilder &builder, mlir::Value begins) const;
  /// A list of `length` elements, undefined.
  mlir::Value createList(mlir::OpBuilder &builder, mlir::Value length,
                         mlir::Type element) const;

  /// The place of the next entry of `row`, and `places` behind it.
  std::pair<mlir::Value, mlir::Value> takePlace(mlir::OpBuilder &builder,
                                                mlir::Value row,
                                                mlir::Value places) const;

  /// The components of the tensor.
  llvm::SmallVector<mlir::Value> getComponents(mlir::Value positions,
                                               mlir::Value coordinates,
                                               mlir::Value values) const;

private:
  mlir::Location loc;
  mlir::RankedTensorType type;
  llvm::SmallVector<mlir::Value> extents, levelExtents;
  mlir::AffineMap levels;
  mlir::Type positionType, coordinateType;
  mlir::Value numRows;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_NEWROWS_H
