//===- SparseStorage.h - a sparse tensor as its components ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Once expanded, a sparse tensor is a list of values: for each level its
// positions and its coordinates, where the level has them, then the values that
// are stored, each a tensor of rank 1, and last the dynamic extents. Position q
// of the last level is that of element q of the values.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSESTORAGE_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSESTORAGE_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensorType.h"
#include "mlir/IR/Builders.h"

namespace sparse_autograd {

/// The extents of the levels of `type`, from those of its dimensions.
llvm::SmallVector<mlir::Value> getLevelExtents(mlir::OpBuilder &builder,
                                               mlir::Location loc,
                                               mlir::RankedTensorType type,
                                               mlir::ValueRange extents);

/// Length of the list of positions of a level of `format`, which has some,
/// below `parents` elements.
mlir::Value countPositions(mlir::OpBuilder &builder, mlir::Location loc,
                           const LevelFormatInfo &format, mlir::Value parents);
/// Length of the list of coordinates of such a level with `elements` elements.
mlir::Value countCoordinates(mlir::OpBuilder &builder, mlir::Location loc,
                             const LevelFormatInfo &format,
                             mlir::Value elements);

/// Element `index` of a list of unsigned numbers, as an index.
mlir::Value loadNumber(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value list, mlir::Value index);

/// The components of one tensor.
class SparseStorage {
public:
  /// `components` are of the types that `getComponentTypes` gives.
  SparseStorage(mlir::RankedTensorType type, mlir::ValueRange components);

  mlir::RankedTensorType getType() const { return type; }
  unsigned getNumLevels() const { return levels.size(); }
  const LevelKind &getLevel(unsigned level) const { return levels[level]; }
  const LevelFormatInfo &getFormat(unsigned level) const {
    return *levels[level].format;
  }
  /// The coordinates of levels as functions of those of dimensions, and back.
  mlir::AffineMap getDimsToLevels() const { return dimsToLevels; }
  mlir::AffineMap getLevelsToDims() const { return levelsToDims; }

  /// Null where a level has none.
  mlir::Value getPositions(unsigned level) const { return positions[level]; }
  mlir::Value getCoordinates(unsigned level) const {
    return coordinates[level];
  }
  /// The coordinate of element `element` of a level that lists them.
  mlir::Value getCoordinate(mlir::OpBuilder &builder, mlir::Location loc,
                            unsigned level, mlir::Value element) const;
  mlir::Value getValues() const { return components[valuesIndex]; }

  mlir::Value getExtent(mlir::OpBuilder &builder, mlir::Location loc,
                        unsigned dim) const;
  mlir::Value getLevelExtent(mlir::OpBuilder &builder, mlir::Location loc,
                             unsigned level) const;

  llvm::ArrayRef<mlir::Value> getComponents() const { return components; }
  /// The components of a tensor of this pattern that stores `values`, as one of
  /// `type`: the same encoding and shape, other extents of which may be known.
  llvm::SmallVector<mlir::Value> withValues(mlir::OpBuilder &builder,
                                            mlir::Location loc,
                                            mlir::Value values,
                                            mlir::RankedTensorType type) const;

private:
  mlir::RankedTensorType type;
  llvm::SmallVector<mlir::Value> components;
  llvm::SmallVector<LevelKind> levels;
  mlir::AffineMap dimsToLevels, levelsToDims;
  llvm::SmallVector<mlir::Value> positions, coordinates, extents;
  unsigned valuesIndex = 0;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSESTORAGE_H
