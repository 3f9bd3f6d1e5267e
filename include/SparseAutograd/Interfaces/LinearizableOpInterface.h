//===- LinearizableOpInterface.h - differentiable ops -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a derivative rule is written against: the two builders that carry
// tangents forward and cotangents backward, and the support of a cotangent.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_INTERFACES_LINEARIZABLEOPINTERFACE_H
#define SPARSEAUTOGRAD_INTERFACES_LINEARIZABLEOPINTERFACE_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OpDefinition.h"

namespace sparse_autograd {

/// Where a value may differ from zero: the elements that a mask selects.
///
/// An adjoint evaluated under a support selects its result by it, so that what
/// a derivative formula makes of a masked-out element (an infinity, a NaN)
/// reaches no gradient (semantics G2).
struct Support {
  /// i1, or a tensor of i1; null: the value may differ from zero everywhere.
  mlir::Value mask;
  /// From the dimensions of the value to those of the mask: a projected
  /// permutation. Without results for an i1.
  mlir::AffineMap map;

  explicit operator bool() const { return static_cast<bool>(mask); }
  bool operator==(const Support &other) const {
    return mask == other.mask && map == other.map;
  }

  /// The support of a value of the shape of `mask`.
  static Support of(mlir::Value mask);
  /// The support of a value of the shape of `like`, which `mask` has as well
  /// unless it is an i1 for all of the value.
  static Support of(mlir::Value mask, mlir::Value like);
  /// The support of a value of rank `rank` whose dimensions `dims` the mask
  /// ranges over, in the order of the mask's dimensions.
  static Support of(mlir::Value mask, unsigned rank,
                    llvm::ArrayRef<int64_t> dims);
};

/// Whether values of `type` have derivatives: floats, ranked tensors of floats.
bool isDifferentiableType(mlir::Type type);

/// Carries tangents forward. What a rule builds goes through `builder`.
class Linearizer {
public:
  virtual ~Linearizer();

  /// Where the rule builds. In forward mode behind the primal op, in reverse
  /// mode at the end of its block: every primal value of the block is visible.
  mlir::OpBuilder builder;

  /// The tangent of `primal`, of the same type; null where it is zero.
  mlir::Value tangent(mlir::Value primal) const {
    return tangents.lookup(primal);
  }

  /// Whether `value` is the tangent of a primal value.
  bool isTangent(mlir::Value value) const { return known.contains(value); }

  /// States the tangent of a primal result. Null leaves it zero.
  void setTangent(mlir::Value primal, mlir::Value tangent);

  /// Says that `temporary`, which a rule builds on the way to a tangent, has
  /// the shape of `like`, which is not linear in a tangent: a transposed rule
  /// reads the extents of the temporary there. Needed for every temporary with
  /// a dynamic extent; the tangent of a primal has that primal's shape.
  void noteShape(mlir::Value temporary, mlir::Value like) {
    shapes.try_emplace(temporary, like);
  }

  /// Says that what was said to have the shape of another value, or is the
  /// tangent of it, has that of `like`.
  void replaceShape(mlir::Value tangent, mlir::Value like) {
    shapes[tangent] = like;
  }

  /// Whether reverse mode asked: a rule with regions then keeps what the
  /// transposed program will read apart from the primal program.
  bool isReverse() const { return reverse; }

  /// Whether the derivative of `value` can differ from zero and can reach a
  /// result, by the activity analysis of the function being differentiated.
  virtual bool isActive(mlir::Value value) const = 0;

  /// Linearizes the ops that stand in `block` now, its terminator excepted,
  /// building tangents behind each op (forward) or at the end of the block
  /// (reverse). Tangents of block arguments are set beforehand. `builder` is
  /// left as it was.
  virtual llvm::LogicalResult linearizeBlock(mlir::Block &block) = 0;

  /// The same in reverse mode, building at the end of another block,
  /// `tangents`. What that reads of `block` is up to the caller.
  virtual llvm::LogicalResult linearizeBlock(mlir::Block &block,
                                             mlir::Block &tangents) = 0;

  /// Says that the values `clones` maps to stand for those it maps from, so
  /// that they share their activity. A rule that clones primal code and
  /// linearizes the clone calls it in between.
  virtual void noteClones(const mlir::IRMapping &clones) = 0;

  /// The value of the program that `value` stands for after all the clones that
  /// were noted.
  virtual mlir::Value originOf(mlir::Value value) const = 0;

  /// Takes `op`, which nothing uses, out of the program. Rules never erase an
  /// op that they did not just build: values are known by their addresses, and
  /// a new one could come to live where an erased one was.
  void retire(mlir::Operation *op);

  /// Forgets the block argument `argument`, which is about to be erased.
  virtual void forget(mlir::Value argument);

  /// A value, not linear in a tangent, that has the shape of `tangent`: the
  /// primal whose tangent it is, or what `noteShape` gave; null if unknown.
  mlir::Value shapeOf(mlir::Value tangent) const {
    return shapes.lookup(tangent);
  }

protected:
  Linearizer(mlir::MLIRContext *context, bool reverse)
      : builder(context), reverse(reverse) {}

  llvm::DenseMap<mlir::Value, mlir::Value> tangents;
  llvm::DenseMap<mlir::Value, mlir::Value> shapes;
  bool reverse;

private:
  llvm::SmallVector<mlir::Operation *> retired;
  llvm::DenseSet<mlir::Value> known;
};

/// Carries cotangents backward through a linear program.
///
/// The linear program may stand in another block than the one being built (the
/// body of a loop or of a linalg.generic is rebuilt for its transpose):
/// `primal` gives the counterpart of a value that is not linear.
class Transposer {
public:
  virtual ~Transposer();

  /// Where the rule builds.
  mlir::OpBuilder builder;

  /// Whether `value` depends linearly on an input of the linear program.
  virtual bool isLinear(mlir::Value value) const = 0;

  /// The counterpart, visible at the insertion point, of a value that is not
  /// linear.
  virtual mlir::Value primal(mlir::Value value) const = 0;

  /// The cotangent of a linear value, of its type, zero outside its support;
  /// null if zero.
  virtual mlir::Value cotangent(mlir::Value value) = 0;

  /// The cotangent of a linear value as it was added up: of an f16 or a bf16 it
  /// is f32 where more than one rounding would make it narrow (semantics G11).
  /// For rules that add up what they are given, or pass it on.
  virtual mlir::Value unroundedCotangent(mlir::Value value) {
    return cotangent(value);
  }

  /// The support of the cotangent of a linear value.
  virtual Support support(mlir::Value value) const = 0;

  /// Adds `contribution` to the cotangent of the linear value `value`, of the
  /// type of which it is, or f32 for an f16 or a bf16. Its elements outside
  /// `support` are selected away before anything reads them, unless
  /// `isSelected` says that they are zero already.
  virtual void accumulate(mlir::Value value, mlir::Value contribution,
                          const Support &support = {},
                          bool isSelected = false) = 0;

  /// Says that the cotangent of `value` starts from `start`, zero outside
  /// `support`: what is accumulated is added to it. Until something is, the
  /// value has no cotangent.
  virtual void startFrom(mlir::Value value, mlir::Value start,
                         const Support &support) = 0;

  /// The cotangent of the linear value `value` as it stands, not rounded, or
  /// what it starts from, zero outside its support; null if there is neither.
  virtual mlir::Value current(mlir::Value value) = 0;
  /// The support of what `current` gives; of nothing, everywhere.
  virtual Support currentSupport(mlir::Value value) const = 0;

  /// Puts `cotangent`, zero outside `support`, in the place of what `current`
  /// gives: a rule adds to a part of a tensor, or in one of two branches,
  /// without touching the rest.
  virtual void replaceCurrent(mlir::Value value, mlir::Value cotangent,
                              const Support &support) = 0;

  /// A value of the shape of the linear value `value` to read extents from,
  /// visible at the insertion point.
  virtual mlir::Value shapeOf(mlir::Value value) = 0;

  /// A transposer for a nested linear program: the ops of `block` up to its
  /// terminator, whose linear inputs are `inputs` besides what is linear here.
  /// Values that are not linear are translated by `mapping`, extended with
  /// clones, built at `builder`, of the ops of `block` that are not linear.
  /// Seed it through `accumulate`, then call `run`.
  virtual std::unique_ptr<Transposer> createNested(mlir::OpBuilder builder,
                                                   mlir::Block &block,
                                                   mlir::ValueRange inputs,
                                                   mlir::IRMapping mapping) = 0;

  /// Transposes the linear ops of the block, last first.
  virtual llvm::LogicalResult run() = 0;

protected:
  explicit Transposer(mlir::OpBuilder builder) : builder(builder) {}
};

/// Emits the diagnostic for an op that has a tangent but no transpose.
llvm::LogicalResult reportNotTransposable(mlir::Operation *op);

} // namespace sparse_autograd

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h.inc"

namespace sparse_autograd {

/// Whether `op` computes each element of its results from those of its operands
/// at the same place: it has MLIR's traits for that, or a rule for scalars.
bool isElementwise(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_INTERFACES_LINEARIZABLEOPINTERFACE_H
