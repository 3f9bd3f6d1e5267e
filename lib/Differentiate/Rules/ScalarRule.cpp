//===- ScalarRule.cpp - derivatives of scalar ops as formulas -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/ScalarRule.h"
#include "RuleFlags.h"
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

LogicalResult sparse_autograd::linearizeByRule(const ScalarRule &rule,
                                               Operation *op,
                                               Linearizer &linearizer) {
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
