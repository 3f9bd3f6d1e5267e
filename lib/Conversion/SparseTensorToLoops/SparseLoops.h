//===- SparseLoops.h - loops over what sparse tensors store -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds loops over a part of an iteration space: the elements at which some
// sparse operands store something. The operands are traversed one after the
// other, level by level. A level whose coordinate is known by then is searched,
// any other is a loop that makes its coordinate known; loops that no operand
// covers are dense and innermost. The order of the operands is the one that is
// expected to visit least.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSELOOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSELOOPS_H

#include "LevelCursor.h"
#include "mlir/IR/AffineMap.h"

namespace sparse_autograd {

/// A sparse operand of loops.
struct SparseOperand {
  SparseStorage storage;
  /// From the loops to the dimensions.
  mlir::AffineMap map;
};

/// An element that is visited.
struct VisitedElement {
  /// One for each loop; null where it is not known yet.
  llvm::SmallVector<mlir::Value> indices;
  /// For each operand that is being traversed, where.
  llvm::DenseMap<unsigned, LevelCursor> cursors;

  /// Whether operand `number` has been traversed.
  bool isAt(const SparseOperand &operand, unsigned number) const;
};

/// What loops carry, and what becomes of it.
class LoopBody {
public:
  virtual ~LoopBody();

  /// Builds what is done at `element`, in the innermost loop. Returns what is
  /// carried on.
  virtual llvm::SmallVector<mlir::Value> visit(mlir::OpBuilder &builder,
                                               const VisitedElement &element,
                                               mlir::ValueRange carried) = 0;

  /// Called before each loop with what is known so far. A body that now knows
  /// where it will write takes a scalar out of what is carried, and `exit`
  /// puts the scalar back behind the loop. Returns whether it did.
  virtual bool enter(mlir::OpBuilder &builder, const VisitedElement &element,
                     llvm::SmallVectorImpl<mlir::Value> &carried) {
    return false;
  }
  virtual void exit(mlir::OpBuilder &builder, const VisitedElement &element,
                    llvm::SmallVectorImpl<mlir::Value> &carried) {}
};

/// The loops of one iteration space.
class SparseLoops {
public:
  /// `extents` has one for each loop; static ones help to choose an order.
  SparseLoops(mlir::Location loc, llvm::ArrayRef<mlir::Value> extents)
      : loc(loc), extents(extents) {}

  /// Adds an operand and returns its number.
  unsigned addOperand(SparseOperand operand) {
    operands.push_back(std::move(operand));
    return operands.size() - 1;
  }
  const SparseOperand &getOperand(unsigned number) const {
    return operands[number];
  }
  unsigned getNumOperands() const { return operands.size(); }
  llvm::ArrayRef<mlir::Value> getExtents() const { return extents; }

  /// Visits every element at which each operand of `stored` stores something
  /// and none of `missing` does. With `isFirstOutermost` the first of `stored`
  /// is traversed first. Returns what is carried in the end.
  llvm::SmallVector<mlir::Value>
  build(mlir::OpBuilder &builder, llvm::ArrayRef<unsigned> stored,
        llvm::ArrayRef<unsigned> missing, bool isFirstOutermost,
        mlir::ValueRange carried, LoopBody &body) const;

  /// Looks operand `number` up at `element`, whose indices are all known.
  /// Builds `found` with the position among the values, or `notFound`, and
  /// returns what they return.
  llvm::SmallVector<mlir::Value>
  lookUp(mlir::OpBuilder &builder, const VisitedElement &element,
         unsigned number, mlir::TypeRange types,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &,
                                                           mlir::Value)>
             found,
         llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &)>
             notFound) const;

  /// The coordinate of a level of operand `number` at `element`.
  mlir::Value getLevelCoordinate(mlir::OpBuilder &builder,
                                 const VisitedElement &element, unsigned number,
                                 unsigned level) const;

private:
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> extents;
  llvm::SmallVector<SparseOperand, 0> operands;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSELOOPS_H
