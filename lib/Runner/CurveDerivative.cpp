//===- CurveDerivative.cpp - differences along a line ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CurveDerivative.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace sparse_autograd;

/// The first level whose difference two wider ones precede.
static constexpr size_t firstLevel = 3;
static constexpr double infinity = std::numeric_limits<double>::infinity();

Sampling Sampling::forRoundoff(double roundoff) {
  Sampling sampling;
  sampling.roundoff = roundoff;
  // A power of two keeps arguments exact where it can.
  sampling.step = std::exp2(std::floor(std::log2(2 * roundoff) / 5));
  sampling.noiseStep = std::max(sampling.step / 1024, 4 * roundoff);
  // What has few digits has no room for a wide margin.
  sampling.safety = roundoff > 1e-4 ? 4 : 16;
  // Down to steps that still are many roundings wide.
  double steps = std::log2(8 * sampling.step / (64 * roundoff));
  sampling.levels =
      static_cast<unsigned>(std::clamp(std::floor(steps), 4.0, 14.0));
  return sampling;
}

/// The standard deviation of an element of samples at equal distances, from
/// their differences of orders 4 to 6; infinite if they are not finite.
static double getDeviation(llvm::ArrayRef<std::vector<double>> samples,
                           size_t element) {
  std::vector<double> differences;
  for (const std::vector<double> &sample : samples)
    differences.push_back(sample[element]);
  // The variance of a difference of order k is C(2k, k) that of a value.
  double factor = 1, sum = 0;
  int orders = 0;
  for (int order = 1; order <= 6; ++order) {
    for (size_t i = 0; i + 1 < differences.size(); ++i)
      differences[i] = differences[i + 1] - differences[i];
    differences.pop_back();
    factor *= 2.0 * (2 * order - 1) / order;
    if (order < 4)
      continue;
    double squares = 0;
    for (double difference : differences)
      squares += difference * difference;
    sum += squares / (factor * static_cast<double>(differences.size()));
    ++orders;
  }
  double deviation = std::sqrt(sum / orders);
  return std::isfinite(deviation) ? deviation : infinity;
}

llvm::Expected<std::vector<double>>
sparse_autograd::measureNoise(const Curve &curve, const Sampling &sampling,
                              llvm::ArrayRef<double> center) {
  // On each side of the point, which may itself be a kink, at distances that do
  // not step over the same number of roundings.
  std::vector<std::vector<double>> left, right;
  for (int k = 1; k <= 7; ++k) {
    for (auto [side, step] :
         {std::pair(&left, -1.0), std::pair(&right, 1.40625)}) {
      llvm::Expected<std::vector<double>> sample =
          curve(k * step * sampling.noiseStep);
      if (!sample)
        return sample.takeError();
      side->push_back(std::move(*sample));
    }
  }
  std::vector<double> noise(center.size(), 0), shares;
  for (size_t element = 0; element < center.size(); ++element) {
    double low = getDeviation(left, element);
    double high = getDeviation(right, element);
    bool isChanging = left[0][element] != left[1][element];
    if (low > high) {
      std::swap(low, high);
      isChanging = right[0][element] != right[1][element];
    }
    // Noise is the same on both sides; what is not is no noise. None at all
    // where something changes is a coincidence.
    double deviation = high > 16 * low && !(low == 0 && isChanging)
                           ? low
                           : std::sqrt((low * low + high * high) / 2);
    double value = std::abs(center[element]);
    noise[element] = std::isfinite(deviation) ? deviation : 0;
    if (std::isfinite(value) && value > 0)
      shares.push_back(noise[element] / value);
  }
  // A few samples may agree by chance; other elements tell what is usual.
  double usual = sampling.roundoff;
  if (!shares.empty()) {
    auto middle = shares.begin() + shares.size() / 2;
    std::nth_element(shares.begin(), middle, shares.end());
    usual = std::max(usual, *middle);
  }
  for (size_t element = 0; element < center.size(); ++element)
    if (double value = std::abs(center[element]); std::isfinite(value))
      noise[element] = std::max(noise[element], usual * value);
  return noise;
}

llvm::Expected<CurveDerivative>
CurveDerivative::create(Curve curve, const Sampling &sampling) {
  CurveDerivative derivative(std::move(curve), sampling);
  llvm::Expected<std::vector<double>> center = derivative.curve(0);
  if (!center)
    return center.takeError();
  derivative.center = std::move(*center);
  llvm::Expected<std::vector<double>> noise =
      measureNoise(derivative.curve, sampling, derivative.center);
  if (!noise)
    return noise.takeError();
  derivative.noise = std::move(*noise);
  // The first that a difference has an estimate of its error for.
  for (unsigned level = 0; level <= firstLevel; ++level)
    if (llvm::Expected<bool> more = derivative.refine(); !more)
      return more.takeError();
  return derivative;
}

double CurveDerivative::stepOf(size_t level) const {
  return std::ldexp(8 * sampling.step, -static_cast<int>(level));
}

/// Bounds what is left of the truncation in the last of three differences, each
/// of half the step of the one before, of a rule of order `order`: their
/// change, and what is left of the change before, as one of them may vanish by
/// chance.
static double getTruncation(const double (&differences)[3], int order) {
  return std::max(
      std::abs(differences[2] - differences[1]),
      std::ldexp(std::abs(differences[1] - differences[0]), -order));
}

/// Takes the estimate of a smaller step if its error is less, or if it
/// contradicts the one before: a curve that oscillates within the wider step
/// may look smooth there.
static void takeBetter(Estimate &best, const Estimate &finer) {
  double distance = std::abs(finer.value - best.value);
  if (finer.error < best.error || distance > finer.error + best.error)
    best = finer;
}

llvm::Expected<bool> CurveDerivative::refine() {
  if (above.size() == sampling.levels)
    return false;
  double step = stepOf(above.size());
  llvm::Expected<std::vector<double>> right = curve(step);
  if (!right)
    return right.takeError();
  llvm::Expected<std::vector<double>> left = curve(-step);
  if (!left)
    return left.takeError();
  above.push_back(std::move(*right));
  below.push_back(std::move(*left));
  return true;
}

llvm::Error CurveDerivative::refineFully() {
  // The noise seems less than it is where samples step over whole numbers of
  // roundings; so do few at several distances.
  Sampling other = sampling;
  other.noiseStep *= 1.7;
  llvm::Expected<std::vector<double>> again =
      measureNoise(curve, other, center);
  if (!again)
    return again.takeError();
  for (size_t element = 0; element < size(); ++element)
    noise[element] = std::max(noise[element], (*again)[element]);
  while (true) {
    llvm::Expected<bool> more = refine();
    if (!more)
      return more.takeError();
    if (!*more)
      return llvm::Error::success();
  }
}

bool CurveDerivative::isFinite(size_t element) const {
  return std::isfinite(center[element]);
}

Estimate CurveDerivative::getDerivative(size_t element) const {
  Estimate best{0, infinity};
  double differences[3] = {};
  for (size_t level = 1; level < above.size(); ++level) {
    double step = stepOf(level);
    double inner = above[level][element] - below[level][element];
    double outer = above[level - 1][element] - below[level - 1][element];
    differences[0] = differences[1];
    differences[1] = differences[2];
    differences[2] = (8 * inner - outer) / (12 * step);
    double error = sampling.safety * 1.5 * noise[element] / step +
                   getTruncation(differences, 4);
    if (level >= firstLevel)
      takeBetter(best, {differences[2], error});
  }
  return best;
}

/// A one-sided difference of three points, as precise as its step allows.
Estimate CurveDerivative::oneSided(size_t element, bool right) const {
  const std::vector<std::vector<double>> &side = right ? above : below;
  Estimate best{0, infinity};
  double differences[3] = {};
  for (size_t level = 1; level < side.size(); ++level) {
    double step = right ? stepOf(level) : -stepOf(level);
    differences[0] = differences[1];
    differences[1] = differences[2];
    differences[2] = (4 * side[level][element] - 3 * center[element] -
                      side[level - 1][element]) /
                     (2 * step);
    double error = sampling.safety * 4 * noise[element] / std::abs(step) +
                   getTruncation(differences, 2);
    if (level >= firstLevel)
      takeBetter(best, {differences[2], error});
  }
  return best;
}

std::pair<Estimate, Estimate>
CurveDerivative::getOneSided(size_t element) const {
  return {oneSided(element, /*right=*/false),
          oneSided(element, /*right=*/true)};
}

bool CurveDerivative::hasJump(size_t element) const {
  constexpr size_t levels = 3;
  if (above.size() <= levels)
    return false;
  for (const auto *side : {&above, &below}) {
    auto getChange = [&](size_t level) {
      return std::abs((*side)[level][element] - center[element]);
    };
    size_t last = above.size() - 1;
    double wider = 0;
    for (size_t level = last - levels; level < last; ++level)
      wider = std::max(wider, getChange(level));
    // A smooth change is halved with the step, or nearly so.
    double change = getChange(last);
    if (change > 0.75 * wider && change > 4 * sampling.safety * noise[element])
      return true;
  }
  return false;
}

bool CurveDerivative::hasKink(size_t element) const {
  auto [left, right] = getOneSided(element);
  if (std::abs(right.value - left.value) > 2 * (left.error + right.error))
    return true;
  return hasJump(element);
}
