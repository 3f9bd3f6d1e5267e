//===- CastsToAssertions.cpp - what casts claim ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Assertions.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Conversion/TensorToAssertions/TensorToAssertions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_CASTSTOASSERTIONS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// Which extents assertions have compared with constants.
class AssertedExtents {
public:
  explicit AssertedExtents(Operation *root) : dominance(root) {
    root->walk([&](cf::AssertOp assertion) { add(assertion); });
  }

  void add(cf::AssertOp assertion) {
    auto equality = assertion.getArg().getDefiningOp<arith::CmpIOp>();
    if (!equality || equality.getPredicate() != arith::CmpIPredicate::eq)
      return;
    for (auto [extent, size] :
         {std::pair(equality.getLhs(), equality.getRhs()),
          std::pair(equality.getRhs(), equality.getLhs())}) {
      auto asked = extent.getDefiningOp<tensor::DimOp>();
      std::optional<int64_t> constant = getConstantIntValue(size);
      if (asked && asked.getConstantIndex() && constant)
        assertions[{asked.getSource(), *asked.getConstantIndex()}].push_back(
            {assertion, *constant});
    }
  }

  /// Whether the extent `dim` of `tensor` is `size` where `op` is executed.
  bool holds(Value tensor, int64_t dim, int64_t size, Operation *op) {
    return getConstantExtent(tensor, dim) == size ||
           llvm::any_of(assertions[{tensor, dim}], [&](auto &known) {
             return known.second == size &&
                    dominance.properlyDominates(known.first, op);
           });
  }

private:
  DominanceInfo dominance;
  llvm::DenseMap<std::pair<Value, int64_t>,
                 SmallVector<std::pair<cf::AssertOp, int64_t>>>
      assertions;
};
} // namespace

/// Asserts what the type of `op` says of extents and nothing proves.
static void assertClaims(tensor::CastOp op, AssertedExtents &asserted) {
  auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(op.getType());
  if (!to)
    return;
  if (!from)
    return assertVerified(op);
  OpBuilder builder(op);
  Location loc = op.getLoc();
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    if (!from.isDynamicDim(dim) || to.isDynamicDim(dim) ||
        asserted.holds(op.getSource(), dim, to.getDimSize(dim), op))
      continue;
    Value isEqual = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq,
        tensor::DimOp::create(builder, loc, op.getSource(), dim),
        arith::ConstantIndexOp::create(builder, loc, to.getDimSize(dim)));
    asserted.add(cf::AssertOp::create(
        builder, loc, isEqual,
        makeAssertionMessage(op, "size mismatch of dim " + Twine(dim))));
  }
}

namespace {
struct CastsToAssertionsPass
    : sparse_autograd::impl::CastsToAssertionsBase<CastsToAssertionsPass> {
  void runOnOperation() override {
    // Nothing else is simplified: fusion has chosen destinations, and merging
    // equal empty tensors would undo that.
    AssertedExtents asserted(getOperation());
    getOperation()->walk<WalkOrder::PreOrder>(
        [&](tensor::CastOp op) { assertClaims(op, asserted); });
  }
};
} // namespace
