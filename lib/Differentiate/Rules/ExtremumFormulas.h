//===- ExtremumFormulas.h - partials of maxima and minima -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_EXTREMUMFORMULAS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_EXTREMUMFORMULAS_H

#include "SparseAutograd/Differentiate/ScalarFormula.h"

namespace sparse_autograd {

/// `weight` where `a` alone is the extremum `y` of `a` and `b`, half of it
/// where both are, zero elsewhere. A NaN operand is the extremum, as maximumf
/// and minimumf have it.
inline FloatFormula shareOfExtremum(const FloatFormula &a,
                                    const FloatFormula &b,
                                    const FloatFormula &y,
                                    const FloatFormula &weight) {
  auto attains = [&](const FloatFormula &operand) {
    return operand == y || isNaN(operand);
  };
  FloatFormula half = weight.node().isConstant(1) ? 0.5 : weight * 0.5;
  return select(attains(a), select(attains(b), half, weight), 0);
}

/// The same for maxnumf and minnumf, which pass a NaN only if both operands
/// are NaN.
inline FloatFormula shareOfNumber(const FloatFormula &a, const FloatFormula &b,
                                  const FloatFormula &y) {
  auto attains = [&](const FloatFormula &operand) {
    return operand == y || isNaN(y);
  };
  return select(attains(a), select(attains(b), 0.5, 1), 0);
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_EXTREMUMFORMULAS_H
