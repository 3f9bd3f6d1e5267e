//===- ThresholdSelect.cpp - what a relu tells ----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/ThresholdSelect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

/// Whether `a` and `b` are one value or equal constants.
static bool isSameNumber(Value a, Value b) {
  APFloat first(0.0), second(0.0);
  return a == b || (matchPattern(a, m_ConstantFloat(&first)) &&
                    matchPattern(b, m_ConstantFloat(&second)) &&
                    first.compare(second) == APFloat::cmpEqual);
}

arith::CmpFOp sparse_autograd::getToldComparison(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select)
    return {};
  auto comparison = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!comparison || comparison.getLhs() != select.getTrueValue())
    return {};
  // The threshold itself, or a NaN, must not compare as what is beyond it.
  arith::CmpFPredicate predicate = comparison.getPredicate();
  bool isStrict = predicate == arith::CmpFPredicate::OGT ||
                  predicate == arith::CmpFPredicate::OLT;
  return isStrict && isSameNumber(comparison.getRhs(), select.getFalseValue())
             ? comparison
             : arith::CmpFOp();
}
