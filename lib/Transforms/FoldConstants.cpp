//===- FoldConstants.cpp - elementwise ops on constants -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/FoldConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace sparse_autograd;

Attribute sparse_autograd::getUniformConstant(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.value();
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return {};
  if (!isa<ShapedType>(value.getType()))
    return constant;
  auto splat = dyn_cast<SplatElementsAttr>(constant);
  return splat ? splat.getSplatValue<Attribute>() : Attribute();
}

/// The constant results of `op` for the constants that it reads; none if they
/// are not known.
static SmallVector<Attribute>
evaluate(Operation *op, const llvm::DenseMap<Value, Attribute> &constants) {
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    Attribute constant = constants.lookup(operand);
    if (!constant)
      constant = getUniformConstant(operand);
    operands.push_back(constant);
  }
  // Folding may change an op in place.
  Operation *copy = op->cloneWithoutRegions();
  llvm::scope_exit destroy([&] { copy->destroy(); });
  SmallVector<OpFoldResult> folded;
  if (op->getNumRegions() != 0 || failed(copy->fold(operands, folded)) ||
      folded.size() != op->getNumResults())
    return {};
  SmallVector<Attribute> results;
  for (OpFoldResult result : folded) {
    auto constant = dyn_cast<Attribute>(result);
    if (!constant)
      constant = constants.lookup(cast<Value>(result));
    if (!constant)
      return {};
    results.push_back(constant);
  }
  return results;
}

namespace {

struct FoldConstantGeneric : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 ||
        op.getNumDpsInputs() == 0)
      return failure();
    llvm::DenseMap<Value, Attribute> constants;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Attribute constant = getUniformConstant(input->get());
      if (!constant)
        return failure();
      constants[op.getMatchingBlockArgument(input)] = constant;
    }
    for (OpOperand &init : op.getDpsInitsMutable())
      if (op.payloadUsesValueFromOperand(&init) ||
          !op.getMatchingIndexingMap(&init).isPermutation())
        return failure();
    for (Operation &inner : op.getBody()->without_terminator()) {
      SmallVector<Attribute> results = evaluate(&inner, constants);
      if (results.empty())
        return failure();
      for (auto [value, constant] : llvm::zip(inner.getResults(), results))
        constants[value] = constant;
    }
    SmallVector<TypedAttr> elements;
    for (Value yielded : op.getBody()->getTerminator()->getOperands()) {
      Attribute constant = constants.lookup(yielded);
      auto element = dyn_cast_or_null<TypedAttr>(
          constant ? constant : getUniformConstant(yielded));
      if (!element)
        return failure();
      elements.push_back(element);
    }
    SmallVector<Value> replacements;
    for (auto [element, init] : llvm::zip_equal(elements, op.getDpsInits())) {
      auto type = cast<RankedTensorType>(init.getType());
      if (type.getRank() == 0) {
        replacements.push_back(arith::ConstantOp::create(
            rewriter, op.getLoc(),
            DenseElementsAttr::get(type, Attribute(element))));
        continue;
      }
      // A constant tensor would lie in memory.
      Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), element);
      replacements.push_back(
          linalg::FillOp::create(rewriter, op.getLoc(), scalar, init)
              .getResult(0));
    }
    rewriter.replaceOp(op, replacements);
    return success();
  }
};

} // namespace

void sparse_autograd::populateFoldConstantsPatterns(
    RewritePatternSet &patterns) {
  patterns.add<FoldConstantGeneric>(patterns.getContext());
}
