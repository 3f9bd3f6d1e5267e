//===- GradientCheck.cpp - gradients against differences ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/GradientCheck.h"
#include "CheckedFunction.h"
#include "CurveDerivative.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace sparse_autograd;

/// Arguments of up to so many elements are checked element by element.
static constexpr size_t mostElements = 64;
static constexpr unsigned directionCount = 3;
/// So many elements are looked for one after the other in a large argument.
static constexpr unsigned mostLocated = 16;
/// A bound beyond this share of the derivative says nothing; of types with few
/// digits less can be asked.
static double getCoarseShare(const Sampling &sampling) {
  return sampling.roundoff > 1e-4 ? 0.5 : 0.1;
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

namespace {
/// The same numbers everywhere: the standard leaves its distributions open.
class RandomNumbers {
public:
  explicit RandomNumbers(uint64_t seed) : engine(seed) {}

  double normal() {
    double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * M_PI * uniform());
  }

private:
  /// In (0, 1).
  double uniform() {
    return (static_cast<double>(engine() >> 12) + 0.5) * 0x1p-52;
  }

  std::mt19937_64 engine;
};
} // namespace

/// `x` with 8 significant bits: every floating type holds it, and its product
/// with a power of two.
static double shorten(double x) {
  if (x == 0 || !std::isfinite(x))
    return 0;
  int exponent;
  double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::round(fraction * 256) / 256, exponent);
}

static double rootMeanSquare(const Elements &elements) {
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

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

namespace {
/// A line through an argument: the derivatives of all results along it.
struct Line {
  CurveDerivative differences;
  Elements derivatives;
  /// Bounds of the derivatives' own rounding.
  std::vector<double> rounding;

  double getBound(size_t element) const {
    return differences.getDerivative(element).error + rounding[element];
  }
  /// How far the two are apart beyond the bound; positive if they differ.
  double getExcess(size_t element) const {
    if (!differences.isFinite(element))
      return -std::numeric_limits<double>::infinity();
    double distance = std::abs(derivatives[element] -
                               differences.getDerivative(element).value);
    double bound = getBound(element);
    if (!std::isfinite(bound))
      return -bound;
    // A derivative that is no number where the differences are.
    if (!std::isfinite(distance))
      return std::numeric_limits<double>::infinity();
    return distance - bound;
  }
};

/// The sizes of the derivatives along a line, of the elements of one result.
struct LineSummary {
  double scale = 0, error = 0, bound = 0;
  bool isZero = true;
  std::optional<size_t> worst;

  /// Whether the bound says nothing beside a derivative of the given size.
  bool isCoarse(double share, double size) const {
    return !std::isfinite(bound) || (!isZero && bound > share * size);
  }
};

class Checker {
public:
  Checker(const CheckedFunction &function, GradientCheck &check)
      : function(function), check(check),
        sampling(Sampling::forRoundoff(function.getRoundoff())),
        coarse(getCoarseShare(sampling)), random(check.seed + 1) {}

  llvm::Error run();

private:
  PairCheck &getPair(size_t argument, size_t result) {
    return check.pairs[argument * function.getResults().size() + result];
  }
  size_t countElements(size_t result) const {
    auto [begin, end] = function.getRange(result);
    return end - begin;
  }
  Elements makeDirection(size_t argument, bool isRelative);
  Elements makeCotangent(size_t result);
  llvm::Expected<Line> makeLine(size_t argument, const Elements &direction);
  llvm::Expected<Line> makeElementLine(size_t argument, size_t element);
  LineSummary summarize(const Line &line, size_t result) const;
  bool isUnclear(const Line &line) const;

  llvm::Error preparePoint();
  llvm::Error checkElements(size_t argument);
  llvm::Error checkDirections(size_t argument);
  llvm::Error checkAdjoint(size_t argument, const Elements &direction,
                           const Line &line);
  llvm::Expected<std::vector<LineSummary>> checkElement(size_t argument,
                                                        size_t element);
  void compareElement(const Line &line, size_t argument, size_t element,
                      size_t result, size_t resultElement);
  void compareGradient(const Line &line, size_t argument, size_t element,
                       size_t result);
  llvm::Expected<std::optional<size_t>>
  locate(size_t argument, const Elements &direction, size_t resultElement);
  void addWorst(PairCheck &pair, DerivativeComparison comparison);

  const CheckedFunction &function;
  GradientCheck &check;
  Sampling sampling;
  double coarse;
  RandomNumbers random;
  /// For each result the cotangent that its gradients are for: one for a single
  /// element, else random weights; and those gradients, by argument.
  std::vector<Elements> cotangents;
  std::vector<std::vector<Elements>> gradients;
  /// Elements of the argument that is checked which have been judged on their
  /// own: directions leave them out.
  std::vector<bool> isJudged;
  bool hasKink = false;
  double step = 0;
};
} // namespace

Elements Checker::makeDirection(size_t argument, bool isRelative) {
  const Elements &point = function.getPoint(argument);
  double scale = rootMeanSquare(point);
  Elements direction(point.size(), 0);
  for (size_t i = 0; i < point.size(); ++i) {
    double number = random.normal();
    if (isJudged[i] || !std::isfinite(point[i]))
      continue;
    double size = isRelative && point[i] != 0 ? std::abs(point[i]) : scale;
    direction[i] = shorten(size * number);
  }
  return direction;
}

Elements Checker::makeCotangent(size_t result) {
  Elements cotangent(countElements(result));
  for (double &weight : cotangent)
    weight = shorten(random.normal());
  return cotangent;
}

llvm::Expected<Line> Checker::makeLine(size_t argument,
                                       const Elements &direction) {
  llvm::Expected<CurveDerivative> differences = CurveDerivative::create(
      [this, argument, direction](double t) {
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
  llvm::Expected<std::vector<double>> noise =
      measureNoise(pushForward, sampling, *derivatives);
  if (!noise)
    return noise.takeError();
  for (double &bound : *noise)
    bound *= sampling.safety;
  Line line{std::move(*differences), std::move(*derivatives),
            std::move(*noise)};
  if (isUnclear(line))
    if (llvm::Error error = line.differences.refineFully())
      return std::move(error);
  return line;
}

/// A line along one element of the argument.
llvm::Expected<Line> Checker::makeElementLine(size_t argument, size_t element) {
  const Elements &point = function.getPoint(argument);
  Elements direction(point.size(), 0);
  double own = std::abs(point[element]);
  if (std::isfinite(own))
    direction[element] = step =
        shorten(std::max(own, rootMeanSquare(point) / 8));
  else
    step = 1;
  llvm::Expected<Line> line = makeLine(argument, direction);
  if (!line || own == 0 || !std::isfinite(own) || shorten(own) == step ||
      !isUnclear(*line))
    return line;
  // A wide step leaves where a function such as log is defined.
  llvm::consumeError(line.takeError());
  direction[element] = step = shorten(own);
  return makeLine(argument, direction);
}

LineSummary Checker::summarize(const Line &line, size_t result) const {
  LineSummary summary;
  auto [begin, end] = function.getRange(result);
  double excess = 0;
  for (size_t element = begin; element < end; ++element) {
    if (!line.differences.isFinite(element))
      continue;
    Estimate estimate = line.differences.getDerivative(element);
    double derivative = std::abs(line.derivatives[element]);
    summary.scale = std::max(summary.scale, derivative);
    if (std::abs(estimate.value) > estimate.error)
      summary.scale = std::max(summary.scale, std::abs(estimate.value));
    summary.isZero &= derivative <= line.rounding[element];
    summary.bound = std::max(summary.bound, line.getBound(element));
    if (std::isfinite(estimate.error))
      summary.error = std::max(
          summary.error, std::abs(line.derivatives[element] - estimate.value));
    if (line.getExcess(element) > excess) {
      excess = line.getExcess(element);
      summary.worst = element;
    }
  }
  return summary;
}

/// Whether smaller steps may tell more.
bool Checker::isUnclear(const Line &line) const {
  for (size_t result = 0; result < function.getResults().size(); ++result) {
    LineSummary summary = summarize(line, result);
    if (summary.worst || !std::isfinite(summary.bound) ||
        summary.isCoarse(coarse, summary.scale))
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The index of an element of an array.
static llvm::SmallVector<int64_t> getIndex(llvm::ArrayRef<int64_t> extents,
                                           size_t element) {
  llvm::SmallVector<int64_t> index(extents.size());
  for (size_t dim = extents.size(); dim-- > 0;) {
    index[dim] = static_cast<int64_t>(element) % extents[dim];
    element /= static_cast<size_t>(extents[dim]);
  }
  return index;
}

void Checker::addWorst(PairCheck &pair, DerivativeComparison comparison) {
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

/// Judges a derivative from reverse mode that is out of its bounds. Where a
/// result is not finite its own derivative need not be, and zero times it is
/// no number.
static Verdict judgeDistance(const PairCheck &pair, double derivative) {
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

/// Compares the derivative of an element of a result by one of the argument.
void Checker::compareElement(const Line &line, size_t argument, size_t element,
                             size_t result, size_t resultElement) {
  if (!line.differences.isFinite(resultElement))
    return;
  PairCheck &pair = getPair(argument, result);
  Estimate estimate = line.differences.getDerivative(resultElement);
  DerivativeComparison comparison;
  comparison.argumentIndex =
      getIndex(function.getArgumentExtents(argument), element);
  comparison.resultIndex =
      getIndex(function.getResultExtents(result),
               resultElement - function.getRange(result).first);
  comparison.derivative = line.derivatives[resultElement] / step;
  comparison.difference = estimate.value / step;
  comparison.bound = line.getBound(resultElement) / step;
  bool isKink = line.differences.hasKink(resultElement);
  if (line.getExcess(resultElement) > 0)
    comparison.verdict = Verdict::Differs;
  else if (!isKink)
    return; // The gradient is what is listed.
  if (isKink) {
    judgeKink(comparison, line.differences, resultElement, step);
    hasKink = true;
  }
  addWorst(pair, std::move(comparison));
}

/// Compares an element of a gradient from reverse mode.
void Checker::compareGradient(const Line &line, size_t argument, size_t element,
                              size_t result) {
  PairCheck &pair = getPair(argument, result);
  auto [begin, end] = function.getRange(result);
  const Elements &weights = cotangents[result];
  DerivativeComparison comparison;
  comparison.isReverse = true;
  comparison.argumentIndex =
      getIndex(function.getArgumentExtents(argument), element);
  if (weights.size() == 1)
    comparison.resultIndex = getIndex(function.getResultExtents(result), 0);
  comparison.derivative = gradients[result][argument][element];
  double magnitude = std::abs(comparison.derivative);
  bool isKink = false;
  for (size_t i = begin; i < end; ++i) {
    double weight = weights[i - begin];
    if (weight == 0)
      continue;
    if (line.differences.hasKink(i)) {
      // Between which numbers a sum of several is, nobody has looked.
      if (weights.size() > 1)
        return;
      isKink = true;
    }
    Estimate estimate = line.differences.getDerivative(i);
    comparison.difference += weight * estimate.value / step;
    comparison.bound += std::abs(weight) * line.getBound(i) / step;
    magnitude += std::abs(weight * estimate.value / step);
  }
  if (std::isfinite(magnitude))
    comparison.bound += 64 * sampling.roundoff * magnitude;
  double distance = std::abs(comparison.derivative - comparison.difference);
  if (isKink) {
    judgeKink(comparison, line.differences, begin, step);
  } else if (std::isfinite(comparison.bound) &&
             !(distance <= comparison.bound)) {
    comparison.verdict = judgeDistance(pair, comparison.derivative);
  }
  addWorst(pair, std::move(comparison));
}

/// Checks the derivatives of all results by one element of the argument.
llvm::Expected<std::vector<LineSummary>> Checker::checkElement(size_t argument,
                                                               size_t element) {
  llvm::Expected<Line> line = makeElementLine(argument, element);
  if (!line)
    return line.takeError();
  std::vector<LineSummary> summaries;
  for (size_t result = 0; result < function.getResults().size(); ++result) {
    PairCheck &pair = getPair(argument, result);
    hasKink = false;
    auto [begin, end] = function.getRange(result);
    for (size_t i = begin; i < end; ++i)
      compareElement(*line, argument, element, result, i);
    compareGradient(*line, argument, element, result);
    LineSummary summary = summarize(*line, result);
    summary.scale /= step;
    summary.error /= step;
    summary.bound /= step;
    pair.kinks += hasKink;
    if (pair.verdict == Verdict::Differs)
      pair.error = std::max(
          pair.error, summary.scale > 0 ? summary.error / summary.scale : 0);
    // At a kink differences are no measure of anything.
    else if (hasKink)
      summary = LineSummary();
    isJudged[element] =
        isJudged[element] || hasKink || pair.verdict == Verdict::Differs;
    summaries.push_back(summary);
  }
  return summaries;
}

llvm::Error Checker::checkElements(size_t argument) {
  size_t count = function.getPoint(argument).size();
  size_t results = function.getResults().size();
  std::vector<LineSummary> totals(results);
  std::vector<bool> wasJudged = isJudged;
  std::vector<std::vector<LineSummary>> all;
  for (size_t element = 0; element < count; ++element) {
    llvm::Expected<std::vector<LineSummary>> summaries =
        checkElement(argument, element);
    if (!summaries)
      return summaries.takeError();
    for (size_t result = 0; result < results; ++result) {
      const LineSummary &summary = (*summaries)[result];
      totals[result].scale = std::max(totals[result].scale, summary.scale);
      totals[result].error = std::max(totals[result].error, summary.error);
      totals[result].bound = std::max(totals[result].bound, summary.bound);
    }
    all.push_back(std::move(*summaries));
  }
  for (size_t result = 0; result < results; ++result) {
    PairCheck &pair = getPair(argument, result);
    pair.isElementwise = true;
    double scale = totals[result].scale > 0 ? totals[result].scale : 1;
    pair.error = std::max(pair.error, totals[result].error / scale);
    pair.bound = std::max(pair.bound, totals[result].bound / scale);
    // An element may be small beside the others.
    for (const std::vector<LineSummary> &summaries : all)
      if (summaries[result].isCoarse(coarse, totals[result].scale))
        pair.verdict = std::max(pair.verdict, Verdict::Undecided);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

/// Finds an element of the argument by which the derivative of an element of
/// the results differs, halving a direction along which it does.
llvm::Expected<std::optional<size_t>> Checker::locate(size_t argument,
                                                      const Elements &direction,
                                                      size_t resultElement) {
  std::vector<size_t> elements;
  for (size_t i = 0; i < direction.size(); ++i)
    if (direction[i] != 0)
      elements.push_back(i);
  while (elements.size() > 1) {
    size_t half = elements.size() / 2;
    std::vector<std::vector<size_t>> halves = {
        std::vector<size_t>(elements.begin(), elements.begin() + half),
        std::vector<size_t>(elements.begin() + half, elements.end())};
    double most = 0;
    for (std::vector<size_t> &part : halves) {
      Elements partial(direction.size(), 0);
      for (size_t i : part)
        partial[i] = direction[i];
      llvm::Expected<Line> line = makeLine(argument, partial);
      if (!line)
        return line.takeError();
      double excess = line->getExcess(resultElement);
      if (line->differences.hasKink(resultElement))
        excess = std::max(excess, line->getBound(resultElement));
      if (excess > most) {
        most = excess;
        elements = std::move(part);
      }
    }
    if (most == 0)
      return std::nullopt;
  }
  if (elements.empty())
    return std::nullopt;
  return elements.front();
}

llvm::Error Checker::checkAdjoint(size_t argument, const Elements &direction,
                                  const Line &line) {
  for (size_t result = 0; result < function.getResults().size(); ++result) {
    auto [begin, end] = function.getRange(result);
    Elements cotangent = makeCotangent(result);
    double forward = 0, magnitude = 0, rounding = 0;
    for (size_t i = begin; i < end; ++i) {
      double &weight = cotangent[i - begin];
      if (!line.differences.isFinite(i))
        weight = 0;
      if (weight == 0)
        continue;
      forward += weight * line.derivatives[i];
      magnitude += std::abs(weight * line.derivatives[i]);
      rounding += std::abs(weight) * line.rounding[i];
    }
    llvm::Expected<std::vector<Elements>> pulled =
        function.pullBack(result, cotangent);
    if (!pulled)
      return pulled.takeError();
    double reverse = 0;
    for (size_t i = 0; i < direction.size(); ++i) {
      if (direction[i] == 0)
        continue;
      double product = direction[i] * (*pulled)[argument][i];
      reverse += product;
      magnitude += std::abs(product);
    }
    PairCheck &pair = getPair(argument, result);
    double error = magnitude > 0 ? std::abs(forward - reverse) / magnitude : 0;
    double n = static_cast<double>(std::max(direction.size(), end - begin));
    double bound = 64 * n * sampling.roundoff;
    if (magnitude > 0)
      bound += rounding / magnitude;
    // A wrong rule is wrong by more than this.
    bound = std::min(bound, 0.125);
    if (!(error <= pair.adjointError))
      pair.adjointError = error;
    pair.adjointBound = std::max(pair.adjointBound, bound);
    if (!(error <= bound))
      pair.verdict = std::max(pair.verdict, judgeDistance(pair, reverse));
  }
  return llvm::Error::success();
}

llvm::Error Checker::checkDirections(size_t argument) {
  unsigned located = 0;
  for (unsigned number = 0; number < directionCount;) {
    Elements direction = makeDirection(argument, /*isRelative=*/false);
    llvm::Expected<Line> line = makeLine(argument, direction);
    if (!line)
      return line.takeError();
    bool isOutside = false;
    for (size_t i = 0; i < line->differences.size(); ++i)
      isOutside |=
          line->differences.isFinite(i) && !std::isfinite(line->getBound(i));
    if (isOutside) {
      // A wide step leaves where a function such as log is defined.
      llvm::consumeError(line.takeError());
      direction = makeDirection(argument, /*isRelative=*/true);
      line = makeLine(argument, direction);
      if (!line)
        return line.takeError();
    }
    bool isRepeated = false;
    for (size_t result = 0; result < function.getResults().size(); ++result) {
      PairCheck &pair = getPair(argument, result);
      LineSummary summary = summarize(*line, result);
      if (summary.worst && located < mostLocated) {
        llvm::Expected<std::optional<size_t>> element =
            locate(argument, direction, *summary.worst);
        if (!element)
          return element.takeError();
        if (*element && !isJudged[**element]) {
          if (auto judged = checkElement(argument, **element); !judged)
            return judged.takeError();
          // Whatever it was, it is in the report; the rest is still to check.
          isJudged[**element] = true;
          ++located;
          isRepeated = true;
          break;
        }
      }
      double scale = summary.scale > 0 ? summary.scale : 1;
      pair.error = std::max(pair.error, summary.error / scale);
      pair.bound = std::max(pair.bound, summary.bound / scale);
      if (summary.isCoarse(coarse, summary.scale))
        pair.verdict = std::max(pair.verdict, Verdict::Undecided);
      if (!summary.worst)
        continue;
      // Something between elements, or more kinks than are looked for.
      size_t worst = *summary.worst;
      DerivativeComparison comparison;
      comparison.verdict = line->differences.hasKink(worst) || pair.kinks
                               ? Verdict::Undecided
                               : Verdict::Differs;
      comparison.resultIndex =
          getIndex(function.getResultExtents(result),
                   worst - function.getRange(result).first);
      comparison.derivative = line->derivatives[worst];
      comparison.difference = line->differences.getDerivative(worst).value;
      comparison.bound = line->getBound(worst);
      addWorst(pair, std::move(comparison));
    }
    if (isRepeated)
      continue;
    if (llvm::Error error = checkAdjoint(argument, direction, *line))
      return error;
    ++number;
  }
  return llvm::Error::success();
}

/// Looks at the results and takes the gradients at the point.
llvm::Error Checker::preparePoint() {
  llvm::Expected<Elements> values =
      function.evaluate(0, Elements(function.getPoint(0).size(), 0), 0);
  if (!values)
    return values.takeError();
  for (size_t result = 0; result < function.getResults().size(); ++result) {
    auto [begin, end] = function.getRange(result);
    Elements weights = makeCotangent(result);
    if (weights.size() == 1)
      weights.front() = 1;
    uint64_t notCompared = 0;
    for (size_t i = begin; i < end; ++i) {
      if (std::isfinite((*values)[i]))
        continue;
      weights[i - begin] = 0;
      ++notCompared;
    }
    for (size_t argument = 0; argument < function.getArguments().size();
         ++argument)
      getPair(argument, result).notCompared = notCompared;
    llvm::Expected<std::vector<Elements>> pulled =
        function.pullBack(result, weights);
    if (!pulled)
      return pulled.takeError();
    cotangents.push_back(std::move(weights));
    gradients.push_back(std::move(*pulled));
  }
  return llvm::Error::success();
}

llvm::Error Checker::run() {
  check.roundoff = sampling.roundoff;
  check.step = sampling.step;
  check.directions = directionCount;
  for (size_t argument = 0; argument < function.getArguments().size();
       ++argument)
    for (size_t result = 0; result < function.getResults().size(); ++result) {
      PairCheck pair;
      pair.argument = function.getArgumentType(argument).name;
      pair.result = function.getResultType(result).name;
      check.pairs.push_back(std::move(pair));
    }
  if (llvm::Error error = preparePoint())
    return error;
  for (size_t argument = 0; argument < function.getArguments().size();
       ++argument) {
    isJudged.assign(function.getPoint(argument).size(), false);
    if (function.getPoint(argument).size() <= mostElements)
      if (llvm::Error error = checkElements(argument))
        return error;
    if (llvm::Error error = checkDirections(argument))
      return error;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The whole check
//===----------------------------------------------------------------------===//

/// A floating argument of static extents with normal numbers.
static std::optional<io::DenseArray> drawArgument(const ValueType &type,
                                                  RandomNumbers &random) {
  if (!getSemantics(type.elementType))
    return std::nullopt;
  llvm::ArrayRef<int64_t> shape;
  if (type.shape)
    shape = *type.shape;
  size_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    count *= static_cast<size_t>(extent);
  }
  Elements elements(count);
  for (double &element : elements)
    element = random.normal();
  return makeArray(type.elementType, shape, elements);
}

llvm::Expected<GradientCheck>
sparse_autograd::checkGradients(const RunOptions &options) {
  llvm::Expected<std::unique_ptr<Program>> program = Program::parse(options);
  if (!program)
    return program.takeError();
  llvm::Expected<std::string> name =
      (*program)->selectEntry(/*allowPrivate=*/true);
  if (!name)
    return name.takeError();
  auto entry = (*program)->getModule().lookupSymbol<mlir::func::FuncOp>(*name);
  if (!entry)
    return llvm::createStringError(
        options.file + ": '" + *name +
        "' is made by a split_vjp; check the function that it is made of");
  GradientCheck check;
  check.function = std::move(*name);
  check.seed = options.seed;
  llvm::Expected<DerivativeEntries> entries = addDerivativeEntries(entry);
  if (!entries)
    return entries.takeError();
  llvm::Expected<std::unique_ptr<ExecutionEngine>> engine =
      (*program)->compile();
  if (!engine)
    return engine.takeError();

  llvm::Expected<Entry> value = Entry::find(**engine, check.function);
  if (!value)
    return value.takeError();
  RandomNumbers random(options.seed);
  llvm::Expected<std::vector<Value>> arguments =
      bindArguments(value->argumentTypes, options.arguments, [&](size_t index) {
        return drawArgument(value->argumentTypes[index], random);
      });
  if (!arguments)
    return arguments.takeError();
  sparseAutogradSetThreadCount(options.threads);
  // The lines of a function that is called a hundred times help nobody.
  sparseAutogradSetLogHandler(
      [](const SparseAutogradLogRecord *, void *) -> int32_t {
        return SPARSE_AUTOGRAD_SUCCESS;
      },
      nullptr);
  llvm::Expected<CheckedFunction> function = CheckedFunction::create(
      **engine, check.function, *entries, std::move(*arguments));
  if (!function)
    return function.takeError();
  if (llvm::Error error = Checker(*function, check).run())
    return std::move(error);
  return check;
}
