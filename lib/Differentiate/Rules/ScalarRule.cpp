//===- ScalarRule.cpp - derivatives of scalar ops as formulas -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/ScalarRule.h"
#include "RuleFlags.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"

using namespace mlir;
using namespace sparse_autograd;

std::string ScalarRule::leafName(unsigned leaf) const {
  if (leaf < numOperands) {
    if (!differentiable[leaf])
      return "n";
    return numOperands == 1 ? "x" : std::string(1, 'a' + leaf);
  }
  return numResults == 1 ? "y" : "y" + std::to_string(leaf - numOperands);
}

/// The operand or the result of `op` that a leaf stands for.
static Value leafValue(Operation *op, unsigned leaf) {
  unsigned numOperands = op->getNumOperands();
  return leaf < numOperands ? op->getOperand(leaf)
                            : Value(op->getResult(leaf - numOperands));
}

/// The tangent of `result`, an op on sparse tensors: the formula is computed
/// where something is stored, from elements. As ops on tensors its constants
/// would be stored everywhere.
static Value createSparseTangent(const ScalarRule &rule, OpResult result,
                                 Linearizer &linearizer) {
  Operation *op = result.getOwner();
  llvm::SetVector<Value> inputs;
  auto read = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      inputs.insert(value);
  };
  llvm::for_each(op->getOperands(), read);
  llvm::for_each(op->getResults(), read);
  for (Value operand : op->getOperands())
    if (Value tangent = linearizer.tangent(operand))
      read(tangent);
  Type elementType = getElementTypeOrSelf(result.getType());
  return createElementwise(
      linearizer.builder, op->getLoc(), inputs.getArrayRef(), result,
      elementType,
      [&](OpBuilder &nested, Location loc, ValueRange elements) -> Value {
        auto element = [&](Value value) {
          auto *found = llvm::find(inputs, value);
          return found == inputs.end() ? value
                                       : elements[found - inputs.begin()];
        };
        FormulaBuilder formulas(
            nested, loc, getDerivativeFlags(op),
            [&](unsigned leaf) { return element(leafValue(op, leaf)); },
            element(result));
        FormulaBuilder::Term sum;
        for (OpOperand &operand : op->getOpOperands()) {
          unsigned number = operand.getOperandNumber();
          Value tangent = rule.differentiable[number]
                              ? linearizer.tangent(operand.get())
                              : Value();
          if (tangent)
            sum = formulas.add(
                sum, formulas.multiply(
                         rule.partial(result.getResultNumber(), number).node(),
                         element(tangent)));
        }
        if (Value value = formulas.materialize(sum))
          return value;
        return arith::ConstantOp::create(nested, loc,
                                         nested.getZeroAttr(elementType));
      });
}

LogicalResult sparse_autograd::linearizeByRule(const ScalarRule &rule,
                                               Operation *op,
                                               Linearizer &linearizer) {
  if (llvm::any_of(op->getOperandTypes(), isSparse) ||
      llvm::any_of(op->getResultTypes(), isSparse)) {
    for (OpResult result : op->getResults())
      linearizer.setTangent(result,
                            createSparseTangent(rule, result, linearizer));
    return success();
  }
  FormulaBuilder formulas(
      linearizer.builder, op->getLoc(), getDerivativeFlags(op),
      [op](unsigned leaf) { return leafValue(op, leaf); }, op->getResult(0));
  for (OpResult result : op->getResults()) {
    FormulaBuilder::Term sum;
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      if (!rule.differentiable[number])
        continue;
      Value tangent = linearizer.tangent(operand.get());
      if (!tangent)
        continue;
      const FloatFormula &partial =
          rule.partial(result.getResultNumber(), number);
      sum = formulas.add(sum, formulas.multiply(partial.node(), tangent));
    }
    linearizer.setTangent(result, formulas.materialize(sum));
  }
  return success();
}

LogicalResult sparse_autograd::transposeByRule(const ScalarRule &rule,
                                               Operation *op,
                                               Transposer &transposer) {
  unsigned numOperands = op->getNumOperands();
  auto isLinearLeaf = [&](unsigned leaf) {
    return leaf >= numOperands || transposer.isLinear(op->getOperand(leaf));
  };
  if (!rule.isLinear)
    return reportNotTransposable(op);
  for (OpResult result : op->getResults()) {
    Value cotangent = transposer.unroundedCotangent(result);
    if (!cotangent)
      continue;
    Support support = transposer.support(result);
    // What may become a term of a sum is not rounded (semantics G11).
    Type elementType =
        getAccumulationType(getElementTypeOrSelf(cotangent.getType()));
    cotangent = createFloatCast(transposer.builder, op->getLoc(), cotangent,
                                elementType);
    FormulaBuilder formulas(
        transposer.builder, op->getLoc(), getDerivativeFlags(op),
        [&](unsigned leaf) {
          Value value = transposer.primal(leafValue(op, leaf));
          return isDifferentiableType(value.getType())
                     ? createFloatCast(transposer.builder, op->getLoc(), value,
                                       elementType)
                     : value;
        },
        cotangent);
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      if (!rule.differentiable[number] || !transposer.isLinear(operand.get()))
        continue;
      const FloatFormula &partial =
          rule.partial(result.getResultNumber(), number);
      // A product of two tangents is not linear: no rule builds one.
      if (partial.node().mentions(isLinearLeaf))
        return reportNotTransposable(op);
      Value contribution =
          formulas.materialize(formulas.multiply(partial.node(), cotangent));
      if (contribution)
        transposer.accumulate(operand.get(), contribution, support,
                              /*isSelected=*/contribution == cotangent);
    }
  }
  return success();
}
