//===- RoundingCheck.cpp - derivatives against those in f64 ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoundingCheck.h"
#include "CurveDerivative.h"
#include "DerivativeLine.h"
#include <algorithm>
#include <cmath>

using namespace sparse_autograd;

static constexpr unsigned tangentCount = 3;

namespace {
/// The distances of two vectors of derivatives at several places; the first one
/// is the point.
class Distances {
public:
  /// Adds the next place.
  void add(Elements own, Elements wide) {
    for (auto [element, exact] : llvm::zip_equal(own, wide))
      element -= exact;
    distances.push_back(std::move(own));
    derivatives.push_back(std::move(wide));
  }

  /// The largest derivative in [begin, end) at the point.
  double getScale(size_t begin, size_t end) const {
    double scale = 0;
    for (size_t i = begin; i < end; ++i)
      if (double size = std::abs(derivatives.front()[i]); std::isfinite(size))
        scale = std::max(scale, size);
    return scale;
  }

  /// Whether the distances in [begin, end) are within `floor` or what
  /// fluctuates. The largest one goes into `most`. What is not finite in f64 is
  /// left to the differences.
  bool isRounding(size_t begin, size_t end, double floor, double &most) const {
    bool result = true;
    for (size_t i = begin; i < end; ++i) {
      if (!std::isfinite(derivatives.front()[i]))
        continue;
      double distance = std::abs(distances.front()[i]);
      if (!(distance <= most))
        most = distance;
      result &= distance <= floor || fluctuates(i);
    }
    return result;
  }

private:
  /// Whether the distance of an element at the point is within 16 standard
  /// deviations, and so is its share of the derivative.
  bool fluctuates(size_t element) const {
    Elements sizes, shares;
    for (auto [place, exact] : llvm::zip_equal(distances, derivatives)) {
      sizes.push_back(place[element]);
      if (exact[element] != 0)
        shares.push_back(place[element] / exact[element]);
    }
    bool hasShare = derivatives.front()[element] != 0;
    return isWithinDeviation(sizes) && (!hasShare || isWithinDeviation(shares));
  }

  /// Whether the first number is, among those that are finite.
  static bool isWithinDeviation(llvm::ArrayRef<double> numbers) {
    double count = 0, sum = 0;
    for (double x : numbers)
      if (std::isfinite(x)) {
        ++count;
        sum += x;
      }
    if (count < 2)
      return false;
    double squares = 0;
    for (double x : numbers)
      if (std::isfinite(x))
        squares += (x - sum / count) * (x - sum / count);
    return std::abs(numbers.front()) <= 16 * std::sqrt(squares / count);
  }

  std::vector<Elements> distances, derivatives;
};
} // namespace

/// A random direction through the finite elements of an argument, as long as
/// the argument is large.
static Elements makeDirection(const CheckedFunction &function, size_t argument,
                              RandomNumbers &random) {
  const Elements &point = function.getPoint(argument);
  double scale = rootMeanSquare(point);
  Elements direction;
  for (double element : point) {
    double number = random.normal();
    direction.push_back(std::isfinite(element) ? shorten(scale * number) : 0);
  }
  return direction;
}

llvm::Expected<std::vector<bool>>
sparse_autograd::compareWithF64(const CheckedFunction &own,
                                const CheckedFunction &wide, double roundoff,
                                GradientCheck &check) {
  RandomNumbers random(check.seed + 2);
  Sampling sampling = Sampling::forRoundoff(roundoff);
  size_t results = own.getResults().size();
  std::vector<bool> isRounding(check.pairs.size(), true);
  auto rate = [&](const Distances &distances, size_t begin, size_t end,
                  size_t count, double value, size_t pair) {
    double scale = distances.getScale(begin, end);
    // A wrong rule is wrong by more than an eighth.
    double share = std::min(64 * static_cast<double>(count) * roundoff, 0.125);
    double most = 0;
    if (!distances.isRounding(begin, end, share * std::max(scale, value), most))
      isRounding[pair] = false;
    PairCheck &rated = check.pairs[pair];
    double rounding = scale > 0 ? most / scale : most;
    if (!(rounding <= rated.rounding))
      rated.rounding = rounding;
  };
  size_t arguments = own.getArguments().size();
  llvm::Expected<Elements> values =
      wide.evaluate(0, Elements(wide.getPoint(0).size(), 0), 0);
  if (!values)
    return values.takeError();
  for (unsigned number = 0; number < tangentCount; ++number) {
    std::vector<Elements> tangents, cotangents;
    for (size_t argument = 0; argument < arguments; ++argument)
      tangents.push_back(makeDirection(own, argument, random));
    for (size_t result = 0; result < results; ++result) {
      auto [begin, end] = own.getRange(result);
      Elements &cotangent = cotangents.emplace_back(end - begin);
      for (double &weight : cotangent)
        weight = shorten(random.normal());
    }
    std::vector<Distances> forward(arguments), reverse(arguments * results);
    // The point, and places as far away as differences in the own types would
    // go, each in another direction: every element moves in some of them.
    for (double steps : {0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0}) {
      std::vector<Elements> places;
      for (size_t argument = 0; argument < arguments; ++argument)
        places.push_back(own.getPlace(argument,
                                      makeDirection(own, argument, random),
                                      steps * sampling.step));
      for (size_t argument = 0; argument < arguments; ++argument) {
        const Elements &tangent = tangents[argument];
        llvm::Expected<Elements> pushed =
            own.pushForwardAt(places, argument, tangent);
        if (!pushed)
          return pushed.takeError();
        llvm::Expected<Elements> exact =
            wide.pushForwardAt(places, argument, tangent);
        if (!exact)
          return exact.takeError();
        forward[argument].add(std::move(*pushed), std::move(*exact));
      }
      for (size_t result = 0; result < results; ++result) {
        auto pulled = own.pullBackAt(places, result, cotangents[result]);
        if (!pulled)
          return pulled.takeError();
        auto exact = wide.pullBackAt(places, result, cotangents[result]);
        if (!exact)
          return exact.takeError();
        for (size_t argument = 0; argument < arguments; ++argument)
          reverse[argument * results + result].add(
              std::move((*pulled)[argument]), std::move((*exact)[argument]));
      }
    }
    for (size_t argument = 0; argument < arguments; ++argument)
      for (size_t result = 0; result < results; ++result) {
        size_t pair = argument * results + result;
        size_t count = own.getPoint(argument).size();
        auto [begin, end] = own.getRange(result);
        size_t larger = std::max(count, end - begin);
        // What the result changes by where the argument does by all of itself.
        double value = 0, weighted = 0;
        for (size_t i = begin; i < end; ++i)
          if (double size = std::abs((*values)[i]); std::isfinite(size)) {
            value = std::max(value, size);
            weighted += size * std::abs(cotangents[result][i - begin]);
          }
        rate(forward[argument], begin, end, larger, value, pair);
        rate(reverse[pair], 0, count, larger,
             weighted / rootMeanSquare(own.getPoint(argument)), pair);
      }
  }
  return isRounding;
}
