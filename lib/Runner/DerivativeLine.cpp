//===- DerivativeLine.cpp - derivatives along a line ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DerivativeLine.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace sparse_autograd;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

double sparse_autograd::shorten(double x) {
  if (x == 0 || !std::isfinite(x))
    return 0;
  int exponent;
  double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::round(fraction * 256) / 256, exponent);
}

double sparse_autograd::rootMeanSquare(const Elements &elements) {
  double sum = 0;
  size_t count = 0;
  for (double x : elements)
    if (std::isfinite(x)) {
      sum += x * x;
      ++count;
    }
  double mean = count ? std::sqrt(sum / static_cast<double>(count)) : 0;
  return mean > 0 && std::isfinite(mean) ? mean : 1;
}

double sparse_autograd::getCoarseShare(const Sampling &sampling) {
  return sampling.roundoff > 1e-4 ? 0.5 : 0.1;
}

double sparse_autograd::getFineShare(const Sampling &sampling) {
  return sampling.roundoff < 1e-12 ? 1e-3 : getCoarseShare(sampling);
}

bool LineSummary::isCoarse(double share, double size) const {
  return !std::isfinite(bound) || (!isZero && bound > share * size);
}

//===----------------------------------------------------------------------===//
// Lines along any direction
//===----------------------------------------------------------------------===//

llvm::Expected<DerivativeLine>
DerivativeLine::create(const CheckedFunction &function,
                       const Sampling &sampling, size_t argument,
                       Elements direction) {
  llvm::Expected<CurveDerivative> differences = CurveDerivative::create(
      [&function, argument, direction](double t) {
        return function.evaluate(argument, direction, t);
      },
      sampling);
  if (!differences)
    return differences.takeError();
  auto pushForward = [&](double t) {
    return function.pushForward(argument, direction, t);
  };
  llvm::Expected<Elements> derivatives = pushForward(0);
  if (!derivatives)
    return derivatives.takeError();
  llvm::Expected<std::vector<double>> rounding =
      measureNoise(pushForward, sampling, *derivatives);
  if (!rounding)
    return rounding.takeError();
  for (double &bound : *rounding)
    bound *= sampling.safety;
  for (size_t result = 0; result < function.getResults().size(); ++result) {
    auto [begin, end] = function.getRange(result);
    double size = 0;
    for (size_t i = begin; i < end; ++i)
      if (differences->isFinite(i))
        size = std::max(size, std::abs(differences->getValue(i)));
    for (size_t i = begin; i < end; ++i)
      (*rounding)[i] += sampling.ignoredValue * size;
  }
  DerivativeLine line(function, sampling, argument, std::move(direction),
                      std::move(*differences), std::move(*derivatives),
                      std::move(*rounding));
  if (line.isUnclear())
    if (llvm::Error error = line.differences.refineFully())
      return std::move(error);
  return line;
}

double DerivativeLine::getBound(size_t element) const {
  double ignored = ignoredShare * std::abs(derivatives[element]);
  return differences.getDerivative(element).error + rounding[element] +
         (std::isfinite(ignored) ? ignored : 0);
}

double DerivativeLine::getExcess(size_t element) const {
  if (!differences.isFinite(element))
    return -infinity;
  double distance =
      std::abs(derivatives[element] - differences.getDerivative(element).value);
  double bound = getBound(element);
  if (!std::isfinite(bound))
    return -bound;
  // A derivative that is no number where the differences are.
  if (!std::isfinite(distance))
    return infinity;
  return distance - bound;
}

LineSummary DerivativeLine::summarize(size_t result) const {
  LineSummary summary;
  auto [begin, end] = function.getRange(result);
  double excess = 0;
  for (size_t element = begin; element < end; ++element) {
    if (!differences.isFinite(element))
      continue;
    Estimate estimate = differences.getDerivative(element);
    double derivative = std::abs(derivatives[element]);
    summary.scale = std::max(summary.scale, derivative);
    if (std::abs(estimate.value) > estimate.error)
      summary.scale = std::max(summary.scale, std::abs(estimate.value));
    summary.isZero &= derivative <= rounding[element];
    summary.bound = std::max(summary.bound, getBound(element));
    if (std::isfinite(estimate.error))
      summary.error = std::max(summary.error,
                               std::abs(derivatives[element] - estimate.value));
    if (getExcess(element) > excess) {
      excess = getExcess(element);
      summary.worst = element;
    }
  }
  return summary;
}

bool DerivativeLine::isUnclear() const {
  for (size_t result = 0; result < function.getResults().size(); ++result) {
    LineSummary summary = summarize(result);
    if (summary.worst || summary.isCoarse(fineShare, summary.scale))
      return true;
  }
  return false;
}

bool DerivativeLine::leavesDomain() const {
  for (size_t element = 0; element < differences.size(); ++element)
    if (differences.isFinite(element) && !std::isfinite(getBound(element)))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Lines along one element
//===----------------------------------------------------------------------===//

llvm::Expected<ElementLine> ElementLine::create(const CheckedFunction &function,
                                                const Sampling &sampling,
                                                size_t argument,
                                                size_t element) {
  const Elements &point = function.getPoint(argument);
  auto makeLine = [&](double change,
                      double step) -> llvm::Expected<ElementLine> {
    Elements direction(point.size(), 0);
    direction[element] = change;
    llvm::Expected<DerivativeLine> line = DerivativeLine::create(
        function, sampling, argument, std::move(direction));
    if (!line)
      return line.takeError();
    return ElementLine{std::move(*line), element, step};
  };
  double size = std::abs(point[element]);
  if (!std::isfinite(size))
    return makeLine(/*change=*/0, /*step=*/1);
  double own = shorten(size);
  double step = shorten(std::max(size, rootMeanSquare(point) / 8));
  llvm::Expected<ElementLine> line = makeLine(step, step);
  if (!line || size == 0 || own == step || !line->line.isUnclear())
    return line;
  // A wide step leaves where a function such as log is defined.
  return makeLine(own, own);
}

LineSummary ElementLine::summarize(size_t result) const {
  LineSummary summary = line.summarize(result);
  summary.scale /= step;
  summary.error /= step;
  summary.bound /= step;
  return summary;
}
