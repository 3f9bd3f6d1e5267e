//===- LevelElements.h - from entries to elements of levels -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_LEVELELEMENTS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_LEVELELEMENTS_H

#include "LoopBuilder.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace sparse_autograd {

/// How the levels of an encoding count their elements. A level with positions
/// has an element for each entry that differs, there or before, from the one
/// that it follows in order: such levels are counted. The element of an entry
/// in any other level follows from that in the one before, and from
/// coordinates.
class LevelElements {
public:
  explicit LevelElements(mlir::sparse_tensor::SparseTensorEncodingAttr encoding)
      : levels(llvm::map_to_vector(encoding.getLvlTypes(), getLevelKind)) {}

  int64_t size() const { return static_cast<int64_t>(levels.size()); }
  const LevelFormatInfo &getFormat(int64_t level) const {
    return *levels[level].format;
  }
  bool isUnique(int64_t level) const { return levels[level].isUnique; }

  /// A part of a name: a letter for each kind of level.
  std::string getName() const;

  /// How many levels before `level` are counted, or of all.
  int64_t countBefore(int64_t level) const;
  int64_t numCounted() const { return countBefore(size()); }
  /// The counted level that is `level` or the last before it; -1 if there is
  /// none.
  int64_t getCounted(int64_t level) const;

  /// The element of level `level` of an entry. `getRank` tells how many
  /// elements there are of a counted level up to and with that of the entry,
  /// `getCoordinate` the coordinate of a level. The element of level -1 is 0.
  mlir::Value
  getElement(LoopBuilder &loops, int64_t level, mlir::ValueRange extents,
             llvm::function_ref<mlir::Value(int64_t)> getRank,
             llvm::function_ref<mlir::Value(int64_t)> getCoordinate) const;

private:
  llvm::SmallVector<LevelKind> levels;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_LEVELELEMENTS_H
