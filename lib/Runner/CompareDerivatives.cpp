//===- CompareDerivatives.cpp - one derivative against differences --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompareDerivatives.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static llvm::SmallVector<int64_t>
getArgumentIndex(const CheckedFunction &function, const ElementLine &line) {
  return function.getArgumentIndex(line.line.getArgument(), line.element);
}

/// The index in its result of an element that is counted through all results.
static llvm::SmallVector<int64_t>
getResultIndex(const CheckedFunction &function, size_t result, size_t element) {
  return function.getResultIndex(result,
                                 element - function.getRange(result).first);
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

Verdict sparse_autograd::judgeDistance(const PairCheck &pair,
                                       double derivative) {
  return pair.notCompared && !std::isfinite(derivative) ? Verdict::Undecided
                                                        : Verdict::Differs;
}

/// Judges the derivative at a kink of an element of the results along a line on
/// which the argument changes by `step`.
static void judgeKink(DerivativeComparison &comparison,
                      const CurveDerivative &differences, size_t element,
                      double step) {
  comparison.verdict = Verdict::Kink;
  // Then there is no derivative at all.
  comparison.isJump = differences.hasJump(element);
  if (comparison.isJump)
    return;
  auto [left, right] = differences.getOneSided(element);
  comparison.oneSided = std::pair(left.value / step, right.value / step);
  double derivative = comparison.derivative * step;
  double low = std::min(left.value - left.error, right.value - right.error);
  double high = std::max(left.value + left.error, right.value + right.error);
  if (!(low <= derivative && derivative <= high))
    comparison.verdict = Verdict::Differs;
}

void sparse_autograd::addWorst(PairCheck &pair,
                               DerivativeComparison comparison) {
  constexpr size_t most = 5;
  pair.verdict = std::max(pair.verdict, comparison.verdict);
  auto getKey = [](const DerivativeComparison &c) {
    double distance = std::abs(c.derivative - c.difference);
    return std::pair(c.verdict, std::isnan(distance)
                                    ? std::numeric_limits<double>::infinity()
                                    : distance);
  };
  auto place = std::find_if(pair.worst.begin(), pair.worst.end(),
                            [&](const DerivativeComparison &other) {
                              return getKey(comparison) > getKey(other);
                            });
  pair.worst.insert(place, std::move(comparison));
  if (pair.worst.size() > most)
    pair.worst.pop_back();
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

std::optional<DerivativeComparison>
sparse_autograd::compareElement(const CheckedFunction &function,
                                const ElementLine &elementLine, size_t result,
                                size_t resultElement) {
  const DerivativeLine &line = elementLine.line;
  const CurveDerivative &differences = line.getDifferences();
  double step = elementLine.step;
  if (!differences.isFinite(resultElement))
    return std::nullopt;
  bool isKink = differences.hasKink(resultElement);
  bool isBeyond = line.getExcess(resultElement) > 0;
  if (!isKink && !isBeyond)
    return std::nullopt;
  DerivativeComparison comparison;
  comparison.argumentIndex = getArgumentIndex(function, elementLine);
  comparison.resultIndex = getResultIndex(function, result, resultElement);
  comparison.derivative = line.getDerivative(resultElement) / step;
  comparison.difference = differences.getDerivative(resultElement).value / step;
  comparison.bound = line.getBound(resultElement) / step;
  if (isKink)
    judgeKink(comparison, differences, resultElement, step);
  else
    comparison.verdict = Verdict::Differs;
  return comparison;
}

std::optional<DerivativeComparison> sparse_autograd::compareGradient(
    const CheckedFunction &function, const ElementLine &elementLine,
    size_t result, const ResultGradients &gradients, const PairCheck &pair) {
  const DerivativeLine &line = elementLine.line;
  const CurveDerivative &differences = line.getDifferences();
  double step = elementLine.step;
  auto [begin, end] = function.getRange(result);
  const Elements &weights = gradients.cotangent;
  DerivativeComparison comparison;
  comparison.isReverse = true;
  comparison.argumentIndex = getArgumentIndex(function, elementLine);
  if (weights.size() == 1)
    comparison.resultIndex = getResultIndex(function, result, begin);
  comparison.derivative =
      gradients.gradients[line.getArgument()][elementLine.element];
  double magnitude = std::abs(comparison.derivative);
  bool isKink = false;
  for (size_t i = begin; i < end; ++i) {
    double weight = weights[i - begin];
    if (weight == 0)
      continue;
    if (differences.hasKink(i)) {
      // Between which numbers a sum of several is, nobody has looked.
      if (weights.size() > 1)
        return std::nullopt;
      isKink = true;
    }
    Estimate estimate = differences.getDerivative(i);
    comparison.difference += weight * estimate.value / step;
    comparison.bound += std::abs(weight) * line.getBound(i) / step;
    magnitude += std::abs(weight * estimate.value / step);
  }
  if (std::isfinite(magnitude))
    comparison.bound += 64 * function.getRoundoff() * magnitude;
  double distance = std::abs(comparison.derivative - comparison.difference);
  if (isKink) {
    judgeKink(comparison, differences, begin, step);
  } else if (std::isfinite(comparison.bound) &&
             !(distance <= comparison.bound)) {
    comparison.verdict = judgeDistance(pair, comparison.derivative);
  }
  return comparison;
}

DerivativeComparison
sparse_autograd::compareAlong(const CheckedFunction &function,
                              const DerivativeLine &line, size_t result,
                              size_t resultElement, const PairCheck &pair) {
  const CurveDerivative &differences = line.getDifferences();
  DerivativeComparison comparison;
  comparison.verdict = differences.hasKink(resultElement) || pair.kinks
                           ? Verdict::Undecided
                           : Verdict::Differs;
  comparison.resultIndex = getResultIndex(function, result, resultElement);
  comparison.derivative = line.getDerivative(resultElement);
  comparison.difference = differences.getDerivative(resultElement).value;
  comparison.bound = line.getBound(resultElement);
  return comparison;
}
