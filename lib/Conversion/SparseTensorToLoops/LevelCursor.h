//===- LevelCursor.h - where one is in a sparse tensor ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves through the levels of a sparse tensor, from the first to the last: in a
// loop over all that a level stores, or to one coordinate by a binary search.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LEVELCURSOR_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LEVELCURSOR_H

#include "SparseStorage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace sparse_autograd {

/// A place in the levels of a sparse tensor, before level `level`.
class LevelCursor {
public:
  explicit LevelCursor(const SparseStorage &storage) : storage(&storage) {}

  unsigned getLevel() const { return level; }

  /// The position in the values, once all levels are behind.
  mlir::Value getPosition() const { return position; }

  /// Whether the next level stores one element here, at the same position: a
  /// singleton below an element.
  bool hasOneElement() const { return getFormat().isSingleton() && !begin; }

  /// What the next level stores here: begin and end of a loop over it.
  std::pair<mlir::Value, mlir::Value> getSegment(mlir::OpBuilder &builder,
                                                 mlir::Location loc) const;

  /// The part of it from coordinate `from` on, below `to`. Any level but a
  /// dense one, which has all coordinates, is searched for both.
  std::pair<mlir::Value, mlir::Value> getSegment(mlir::OpBuilder &builder,
                                                 mlir::Location loc,
                                                 mlir::Value from,
                                                 mlir::Value to) const;

  /// The coordinate of iteration `iteration` of that loop.
  mlir::Value getCoordinate(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value iteration) const;

  /// The cursor behind the next level, at iteration `iteration`.
  LevelCursor enter(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value iteration) const;

  /// The cursor behind the next level, at `coordinate`; the i1 that comes with
  /// it says whether there is something, and is null if that is known or not
  /// yet. Where there is not, the cursor must not be used.
  std::pair<LevelCursor, mlir::Value> locate(mlir::OpBuilder &builder,
                                             mlir::Location loc,
                                             mlir::Value coordinate) const;

private:
  /// The first of the elements [begin, end) of the next level whose coordinate
  /// has not the relation `predicate` to `coordinate`; `end` if there is none.
  mlir::Value search(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value begin, mlir::Value end,
                     mlir::arith::CmpIPredicate predicate,
                     mlir::Value coordinate) const;
  const LevelFormatInfo &getFormat() const { return storage->getFormat(level); }

  const SparseStorage *storage;
  unsigned level = 0;
  /// The position of the level behind; null before the first.
  mlir::Value position;
  /// Where several positions of the level behind have one coordinate, the first
  /// of them and the one behind the last; null elsewhere.
  mlir::Value begin, end;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LEVELCURSOR_H
