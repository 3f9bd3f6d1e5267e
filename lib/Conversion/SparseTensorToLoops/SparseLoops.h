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
// expected to visit least. The outermost loop may run in parallel where what is
// done in it allows.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSELOOPS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSELOOPS_H

#include "Lanes.h"
#include "LevelCursor.h"
#include "NumberedLoops.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>

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
  /// The loop that is in the lanes of vectors, if one is. Its index is that of
  /// the first lane.
  std::optional<Lanes> lanes;

  /// Whether operand `number` has been traversed.
  bool isAt(const SparseOperand &operand, unsigned number) const;
};

/// What differs between the iterations of the outermost of several loops.
struct OutermostLoop {
  /// The operand that it is over, if it is over one: no two iterations visit
  /// the same element of it.
  std::optional<unsigned> operand;
  /// A function of the loops that has another value in each iteration; null if
  /// none is known.
  mlir::AffineExpr coordinate;
};

/// How the innermost dense loop is in the lanes of vectors.
struct VectorForm {
  enum Kind {
    None,     ///< it is not
    Elements, ///< a lane computes an element of the results
    Sums      ///< lanes hold partial sums, which are added after the loop
  };
  Kind kind = None;
  /// Why it is not, for a remark.
  llvm::StringRef whyNone = "its elements are not computed with";
  /// The bytes of a lane: of the widest type that is computed with.
  int64_t laneBytes = 1;
  /// Whether each result is what it was and a term, added.
  bool addsTerms = false;
  /// The other loops that the places of the results depend on, of Elements.
  llvm::SmallBitVector placeLoops;
  /// The same of each operand that is read by vectors.
  llvm::SmallVector<llvm::SmallBitVector> readLoops;
};

/// What loops carry, and what becomes of it.
class LoopBody {
public:
  virtual ~LoopBody();

  /// What is done at the elements, for a remark: "computes", "lists entries".
  virtual llvm::StringRef getPurpose() const { return "computes"; }

  /// Whether what is done in dense loop `loop`, the innermost one, can be done
  /// by vectors.
  virtual VectorForm getVectorForm(unsigned loop) { return {}; }

  /// Called before all loops. `isVisitedOnce` says whether loops over the
  /// indices of the loops of a set come first, go through all of them, and have
  /// another loop in them. May replace what is carried.
  virtual void
  begin(mlir::OpBuilder &builder,
        llvm::function_ref<bool(const llvm::SmallBitVector &)> isVisitedOnce,
        llvm::SmallVectorImpl<mlir::Value> &carried) {}

  /// Whether the iterations of `outermost` write to different places and read
  /// nothing that another one writes.
  virtual bool writesApart(const OutermostLoop &outermost) { return false; }

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

/// How loops are scheduled.
struct LoopSchedule {
  /// Outermost loops whose iterations write to different places are marked as
  /// parallel, and loops within them.
  bool isParallel = false;
  /// For a target with many threads: each iteration is parallel by itself, and
  /// dense loops whose iterations write to different places are outside of
  /// those over what is stored, and parallel too.
  bool isForDevice = false;
  /// The bytes of the values that a loop carries in vector registers, and of
  /// the vectors that the rest of a dynamic extent takes; 0 for no vectors. The
  /// order of a sum depends on both, so that they are the same for all targets.
  int64_t vectorBytes = 0;
  int64_t tailBytes = 0;
  /// The bytes of the narrowest elements whose vectors can be loaded and stored
  /// under a mask, in one instruction; 0 if there are none. Without masks loops
  /// of open extents are scalar.
  int64_t maskedBytes = 0;
  /// Where loops that number what they visit are noted, to be made parallel
  /// once all ops are lowered; null if they are not.
  llvm::SmallVectorImpl<NumberedLoops> *numbered = nullptr;
};

/// The loops of one iteration space.
class SparseLoops {
public:
  /// `extents` has one for each loop; static ones help to choose an order.
  SparseLoops(mlir::Location loc, llvm::ArrayRef<mlir::Value> extents,
              const LoopSchedule &schedule)
      : loc(loc), extents(extents), schedule(schedule) {}

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
  const LoopSchedule &getSchedule() const { return schedule; }

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
  LoopSchedule schedule;
  llvm::SmallVector<SparseOperand, 0> operands;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_SPARSELOOPS_H
