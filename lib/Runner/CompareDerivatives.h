//===- CompareDerivatives.h - one derivative against differences -*- C++ -*-===/
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_COMPAREDERIVATIVES_H
#define SPARSEAUTOGRAD_LIB_RUNNER_COMPAREDERIVATIVES_H

#include "DerivativeLine.h"
#include "SparseAutograd/Runner/GradientCheck.h"

namespace sparse_autograd {

/// The derivatives of one result by reverse mode.
struct ResultGradients {
  /// What was pulled back, an element for each of the result: 1 for a single
  /// element, else random weights, and 0 for elements that are not finite.
  Elements cotangent;
  /// The gradients of the result weighted so, for each floating argument.
  std::vector<Elements> gradients;
};

/// Compares the derivative by forward mode of an element of a result, counted
/// through all results, by the element that `line` is along. Nothing is
/// returned if there is nothing to list: if it is not finite, or agrees where
/// there is no kink, as its gradient is listed then.
std::optional<DerivativeComparison>
compareElement(const CheckedFunction &function, const ElementLine &line,
               size_t result, size_t resultElement);

/// Compares the gradient by reverse mode at the element that `line` is along.
/// Nothing is returned if the result has several elements and one has a kink.
/// `pair` says how many elements of the result are not finite.
std::optional<DerivativeComparison>
compareGradient(const CheckedFunction &function, const ElementLine &line,
                size_t result, const ResultGradients &gradients,
                const PairCheck &pair);

/// Compares the derivative by forward mode of an element of a result, counted
/// through all results, along a line that it differs on and that no single
/// element was found to blame for. `pair` says how many kinks there are.
DerivativeComparison compareAlong(const CheckedFunction &function,
                                  const DerivativeLine &line, size_t result,
                                  size_t resultElement, const PairCheck &pair);

/// Judges a derivative by reverse mode that is out of its bounds. Where a
/// result is not finite its own derivative need not be, and zero times it is
/// no number: undecided then.
Verdict judgeDistance(const PairCheck &pair, double derivative);

/// Adds a comparison to the few worst of a pair, and takes its verdict if that
/// is worse than the verdict of the pair.
void addWorst(PairCheck &pair, DerivativeComparison comparison);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_COMPAREDERIVATIVES_H
