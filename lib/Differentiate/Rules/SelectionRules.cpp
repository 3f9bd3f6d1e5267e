//===- SelectionRules.cpp - derivatives of 2:4 selection ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A selection becomes a choice, its mask and a select of elements, so that a
// derivative reads the choice, of 2 bits for an element that is kept, and never
// what it was made of. What the mode of the gradient makes of a tangent is
// linear; its transpose follows from what it is made of (semantics T1).
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseRules.h"

using namespace mlir;
using namespace sparse_autograd;

/// `element` times `scale`. What is multiplied by zero is selected away
/// (semantics G1), and a factor 1 is none.
static Value createScaled(OpBuilder &builder, Location loc, Value element,
                          double scale) {
  Type type = element.getType();
  if (scale == 0.0)
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  if (scale == 1.0)
    return element;
  return arith::MulFOp::create(
      builder, loc, element,
      arith::ConstantOp::create(builder, loc,
                                builder.getFloatAttr(type, scale)));
}

/// What the gradient of the selection `op`, with `mask`, makes of `tangent`.
template <typename OpTy>
static Value createTangent(OpBuilder &builder, OpTy op, Value tangent,
                           Value mask) {
  switch (op.getGradient()) {
  case SelectionGradient::Dense:
  case SelectionGradient::Sparse:
    return createSelected(builder, op.getLoc(), tangent, mask);
  case SelectionGradient::StraightThrough:
    return tangent;
  case SelectionGradient::Scaled:
    break;
  }
  ArrayRef<double> scales = *op.getGradientScales();
  return createElementwise(
      builder, op.getLoc(), {tangent, mask}, mask,
      getElementTypeOrSelf(tangent.getType()),
      [&](OpBuilder &nested, Location loc, ValueRange elements) -> Value {
        return arith::SelectOp::create(
            nested, loc, elements[1],
            createScaled(nested, loc, elements[0], scales[0]),
            createScaled(nested, loc, elements[0], scales[1]));
      });
}

namespace {

/// sparsify_24 and sparsify_24_like.
template <typename OpTy>
struct SelectionModel
    : LinearizableOpInterface::ExternalModel<SelectionModel<OpTy>, OpTy> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<OpTy>(operation);
    Location loc = op.getLoc();
    Value from = op.getInput();
    if constexpr (std::is_same_v<OpTy, Sparsify24LikeOp>)
      from = op.getOther();

    OpBuilder primal(op);
    Value choice = Choose24Op::create(primal, loc, from, op.getSelect());
    Value mask = createChoiceMask(primal, loc, choice, from);
    SmallVector<Value> selected =
        createSelections(primal, loc, op.getSelect(), op.getInput(), choice,
                         mask, op->getResultTypes());
    IRMapping clones;
    clones.map(op->getResults(), selected);
    linearizer.noteClones(clones);

    // The choice alone depends on the inputs where there is no tangent.
    if (Value tangent = linearizer.tangent(op.getInput())) {
      Value result = createTangent(linearizer.builder, op, tangent, mask);
      // A tangent is stored where its value stores something.
      auto set = [&](Value of, Value whole) {
        if (isSparse(of.getType())) {
          linearizer.noteShape(whole, of);
          whole = createCopyLike(linearizer.builder, loc, whole, of);
        }
        linearizer.setTangent(of, whole);
      };
      set(selected[0], result);
      linearizer.noteShape(result, selected[0]);
      if (selected.size() == 2)
        set(selected[1],
            createTransposedMatrices(linearizer.builder, loc, result, mask));
    }
    op->replaceAllUsesWith(selected);
    linearizer.retire(op);
    return success();
  }
};

/// compress_24. The choice is no float; without one the tangent has the pattern
/// of the result.
struct CompressModel
    : LinearizableOpInterface::ExternalModel<CompressModel, Compress24Op> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<Compress24Op>(operation);
    Value tangent = linearizer.tangent(op.getInput());
    if (!tangent)
      return success();
    Location loc = op.getLoc();
    Value kept = tangent;
    if (op.getChoice()) {
      OpBuilder primal(op);
      Value mask = createChoiceMask(primal, loc, op.getChoice(), op.getInput());
      kept = createSelected(linearizer.builder, loc, tangent, mask);
      linearizer.noteShape(kept, op.getInput());
      if (op.getTransposed()) {
        kept = createTransposedMatrices(linearizer.builder, loc, kept, mask);
        linearizer.noteShape(kept, op.getResult());
      }
    }
    linearizer.setTangent(
        op.getResult(),
        createCopyLike(linearizer.builder, loc, kept, op.getResult()));
    return success();
  }
};

/// An op whose result is no float.
template <typename OpTy>
struct ChoiceModel
    : LinearizableOpInterface::ExternalModel<ChoiceModel<OpTy>, OpTy> {
  LogicalResult linearize(Operation *, Linearizer &) const { return success(); }
};

} // namespace

void sparse_autograd::attachSelectionRules(MLIRContext &context) {
  Sparsify24Op::attachInterface<SelectionModel<Sparsify24Op>>(context);
  Sparsify24LikeOp::attachInterface<SelectionModel<Sparsify24LikeOp>>(context);
  Compress24Op::attachInterface<CompressModel>(context);
  Choose24Op::attachInterface<ChoiceModel<Choose24Op>>(context);
  Mask24Op::attachInterface<ChoiceModel<Mask24Op>>(context);
}
