//===- GradientChecker.cpp - the gradients at one point -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientChecker.h"
#include "AdjointIdentity.h"
#include "CompareDerivatives.h"
#include <algorithm>
#include <cmath>

using namespace sparse_autograd;

/// Arguments of up to so many elements are checked element by element.
static constexpr size_t mostElements = 64;
static constexpr unsigned directionCount = 3;
/// So many elements are looked for one after the other in a large argument.
static constexpr unsigned mostLocated = 16;

//===----------------------------------------------------------------------===//
// The point
//===----------------------------------------------------------------------===//

GradientChecker::GradientChecker(const CheckedFunction &function,
                                 GradientCheck &check, double ignoredShare)
    : function(function), check(check),
      sampling(Sampling::forRoundoff(function.getRoundoff())),
      coarseShare(getCoarseShare(sampling)), random(check.seed + 1) {
  sampling.ignoredShare = ignoredShare;
  sampling.ignoredValue = ignoredShare * ignoredShare;
}

llvm::Error GradientChecker::run() {
  check.step = sampling.step;
  check.directions = directionCount;
  addPairs();
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

void GradientChecker::addPairs() {
  for (size_t argument = 0; argument < function.getArguments().size();
       ++argument)
    for (size_t result = 0; result < function.getResults().size(); ++result) {
      PairCheck pair;
      pair.argument = function.getArgumentType(argument).name;
      pair.result = function.getResultType(result).name;
      check.pairs.push_back(std::move(pair));
    }
}

llvm::Error GradientChecker::preparePoint() {
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
    gradients.push_back({std::move(weights), std::move(*pulled)});
  }
  return llvm::Error::success();
}

Elements GradientChecker::makeCotangent(size_t result) {
  auto [begin, end] = function.getRange(result);
  Elements cotangent(end - begin);
  for (double &weight : cotangent)
    weight = shorten(random.normal());
  return cotangent;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

LineSummary GradientChecker::checkElementOfPair(const ElementLine &line,
                                                size_t result) {
  PairCheck &pair = getPair(line.line.getArgument(), result);
  bool hasKink = false;
  auto [begin, end] = function.getRange(result);
  for (size_t i = begin; i < end; ++i)
    if (auto comparison = compareElement(function, line, result, i)) {
      hasKink |= comparison->isJump || comparison->oneSided;
      addWorst(pair, std::move(*comparison));
    }
  if (auto comparison =
          compareGradient(function, line, result, gradients[result], pair))
    addWorst(pair, std::move(*comparison));
  LineSummary summary = line.summarize(result);
  pair.kinks += hasKink;
  if (pair.verdict == Verdict::Differs)
    pair.error = std::max(
        pair.error, summary.scale > 0 ? summary.error / summary.scale : 0);
  // At a kink differences are no measure of anything.
  else if (hasKink)
    summary = LineSummary();
  if (hasKink || pair.verdict == Verdict::Differs)
    isJudged[line.element] = true;
  return summary;
}

llvm::Expected<std::vector<LineSummary>>
GradientChecker::checkElement(size_t argument, size_t element) {
  llvm::Expected<ElementLine> line =
      ElementLine::create(function, sampling, argument, element);
  if (!line)
    return line.takeError();
  std::vector<LineSummary> summaries;
  for (size_t result = 0; result < function.getResults().size(); ++result)
    summaries.push_back(checkElementOfPair(*line, result));
  return summaries;
}

/// Rates a pair by the sizes of its derivatives by each element of the
/// argument.
static void rateElements(PairCheck &pair, llvm::ArrayRef<LineSummary> elements,
                         double coarseShare) {
  LineSummary most;
  for (const LineSummary &summary : elements) {
    most.scale = std::max(most.scale, summary.scale);
    most.error = std::max(most.error, summary.error);
    most.bound = std::max(most.bound, summary.bound);
  }
  pair.isElementwise = true;
  double scale = most.scale > 0 ? most.scale : 1;
  pair.error = std::max(pair.error, most.error / scale);
  pair.bound = std::max(pair.bound, most.bound / scale);
  // An element may be small beside the others.
  for (const LineSummary &summary : elements)
    if (summary.isCoarse(coarseShare, most.scale))
      pair.verdict = std::max(pair.verdict, Verdict::Undecided);
}

llvm::Error GradientChecker::checkElements(size_t argument) {
  // For each result, by element.
  std::vector<std::vector<LineSummary>> all(function.getResults().size());
  size_t count = function.getPoint(argument).size();
  for (size_t element = 0; element < count; ++element) {
    llvm::Expected<std::vector<LineSummary>> summaries =
        checkElement(argument, element);
    if (!summaries)
      return summaries.takeError();
    for (size_t result = 0; result < all.size(); ++result)
      all[result].push_back((*summaries)[result]);
  }
  for (size_t result = 0; result < all.size(); ++result)
    rateElements(getPair(argument, result), all[result], coarseShare);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

Elements GradientChecker::makeDirection(size_t argument, bool isRelative) {
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

llvm::Expected<DerivativeLine> GradientChecker::makeLine(size_t argument) {
  llvm::Expected<DerivativeLine> line =
      DerivativeLine::create(function, sampling, argument,
                             makeDirection(argument, /*isRelative=*/false));
  if (!line || !line->leavesDomain())
    return line;
  // A wide step leaves where a function such as log is defined.
  return DerivativeLine::create(function, sampling, argument,
                                makeDirection(argument, /*isRelative=*/true));
}

/// Finds an element of the argument by which the derivative of an element of
/// the results differs, or has a kink, halving a direction along which it does.
static llvm::Expected<std::optional<size_t>>
locate(const CheckedFunction &function, const Sampling &sampling,
       const DerivativeLine &line, size_t resultElement) {
  const Elements &direction = line.getDirection();
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
      llvm::Expected<DerivativeLine> partialLine = DerivativeLine::create(
          function, sampling, line.getArgument(), std::move(partial));
      if (!partialLine)
        return partialLine.takeError();
      double excess = partialLine->getExcess(resultElement);
      if (partialLine->getDifferences().hasKink(resultElement))
        excess = std::max(excess, partialLine->getBound(resultElement));
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

llvm::Expected<bool> GradientChecker::checkCulprit(const DerivativeLine &line,
                                                   size_t resultElement) {
  llvm::Expected<std::optional<size_t>> located =
      locate(function, sampling, line, resultElement);
  if (!located)
    return located.takeError();
  if (!*located || isJudged[**located])
    return false;
  size_t element = **located;
  if (auto judged = checkElement(line.getArgument(), element); !judged)
    return judged.takeError();
  // Whatever it was, it is in the report; the rest is still to check.
  isJudged[element] = true;
  return true;
}

void GradientChecker::checkLineOfPair(const DerivativeLine &line, size_t result,
                                      const LineSummary &summary) {
  PairCheck &pair = getPair(line.getArgument(), result);
  double scale = summary.scale > 0 ? summary.scale : 1;
  pair.error = std::max(pair.error, summary.error / scale);
  pair.bound = std::max(pair.bound, summary.bound / scale);
  if (summary.isCoarse(coarseShare, summary.scale))
    pair.verdict = std::max(pair.verdict, Verdict::Undecided);
  // Something between elements, or more kinks than are looked for.
  if (summary.worst)
    addWorst(pair, compareAlong(function, line, result, *summary.worst, pair));
}

llvm::Expected<bool> GradientChecker::checkLine(const DerivativeLine &line,
                                                bool mayLocate) {
  for (size_t result = 0; result < function.getResults().size(); ++result) {
    LineSummary summary = line.summarize(result);
    if (summary.worst && mayLocate) {
      llvm::Expected<bool> isFound = checkCulprit(line, *summary.worst);
      if (!isFound)
        return isFound.takeError();
      if (*isFound)
        return false;
    }
    checkLineOfPair(line, result, summary);
  }
  return true;
}

llvm::Error GradientChecker::checkDirections(size_t argument) {
  unsigned located = 0;
  for (unsigned number = 0; number < directionCount;) {
    llvm::Expected<DerivativeLine> line = makeLine(argument);
    if (!line)
      return line.takeError();
    llvm::Expected<bool> isComplete =
        checkLine(*line, /*mayLocate=*/located < mostLocated);
    if (!isComplete)
      return isComplete.takeError();
    if (!*isComplete) {
      // Another direction, which leaves the element out, takes its place.
      ++located;
      continue;
    }
    for (size_t result = 0; result < function.getResults().size(); ++result)
      if (llvm::Error error = checkAdjointIdentity(function, *line, result,
                                                   makeCotangent(result),
                                                   getPair(argument, result)))
        return error;
    ++number;
  }
  return llvm::Error::success();
}
