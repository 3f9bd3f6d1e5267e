//===- CurveDerivativeTest.cpp - differences and their bounds -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CurveDerivative.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace sparse_autograd;

/// The derivative at 0 of a function of one number, computed in f64.
static CurveDerivative differentiate(std::function<double(double)> function,
                                     double roundoff = 0x1p-53) {
  return llvm::cantFail(CurveDerivative::create(
      [function](double t) -> llvm::Expected<std::vector<double>> {
        return std::vector<double>{function(t)};
      },
      Sampling::forRoundoff(roundoff)));
}

TEST(CurveDerivative, StepsFollowTheType) {
  EXPECT_EQ(Sampling::forRoundoff(0x1p-53).step, 0x1p-11);
  EXPECT_EQ(Sampling::forRoundoff(0x1p-24).step, 0x1p-5);
  EXPECT_EQ(Sampling::forRoundoff(0x1p-11).step, 0x1p-2);
}

/// Bounds hold, and are no wider than the precision of the type allows.
TEST(CurveDerivative, BoundsHoldInF64) {
  for (int i = 1; i <= 500; ++i) {
    double x = 0.01 * i;
    CurveDerivative sine =
        differentiate([=](double t) { return std::sin(x + t); });
    Estimate estimate = sine.getDerivative(0);
    EXPECT_LE(std::abs(estimate.value - std::cos(x)), estimate.error) << x;
    EXPECT_LE(estimate.error, 1e-11) << x;
    EXPECT_FALSE(sine.hasKink(0)) << x;
  }
}

/// A curve that oscillates many times within the wider steps looks smooth there
/// by chance.
TEST(CurveDerivative, BoundsHoldOfOscillations) {
  for (int i = 1; i <= 2000; ++i) {
    double phase = 0.01 * i, frequency = 1e4 + 50 * i;
    CurveDerivative sine = differentiate(
        [=](double t) { return std::sin(frequency * t + phase); });
    ASSERT_FALSE(llvm::errorToBool(sine.refineFully()));
    Estimate estimate = sine.getDerivative(0);
    EXPECT_LE(std::abs(estimate.value - frequency * std::cos(phase)),
              estimate.error)
        << frequency << " " << phase;
  }
}

TEST(CurveDerivative, BoundsHoldInF32) {
  for (int i = 1; i <= 500; ++i) {
    double x = 0.01 * i;
    auto function = [=](double t) {
      auto place = static_cast<float>(x + t * x);
      // The rounding of each operation adds up.
      float sum = 0;
      for (int k = 1; k <= 20; ++k)
        sum += std::sin(place) / static_cast<float>(k);
      return static_cast<double>(sum);
    };
    double factor = 0;
    for (int k = 1; k <= 20; ++k)
      factor += 1.0 / k;
    CurveDerivative derivative = differentiate(function, 0x1p-24);
    ASSERT_FALSE(llvm::errorToBool(derivative.refineFully()));
    Estimate estimate = derivative.getDerivative(0);
    EXPECT_LE(std::abs(estimate.value - factor * x * std::cos(x)),
              estimate.error)
        << x;
    EXPECT_LE(estimate.error, 2e-2) << x;
    EXPECT_FALSE(derivative.hasKink(0)) << x;
  }
}

/// A difference cannot tell what the result cannot hold, and says so.
TEST(CurveDerivative, BoundsCoverCancellation) {
  CurveDerivative derivative =
      differentiate([](double t) { return (1e6 + std::sin(1 + t)) - 1e6; });
  ASSERT_FALSE(llvm::errorToBool(derivative.refineFully()));
  Estimate estimate = derivative.getDerivative(0);
  EXPECT_LE(std::abs(estimate.value - std::cos(1)), estimate.error);
  EXPECT_GE(estimate.error, 1e-8);
  EXPECT_LE(estimate.error, 1e-3);
}

TEST(CurveDerivative, FindsKinks) {
  CurveDerivative kink =
      differentiate([](double t) { return std::max(t, -2 * t); });
  EXPECT_TRUE(kink.hasKink(0));
  EXPECT_FALSE(kink.hasJump(0));
  auto [left, right] = kink.getOneSided(0);
  EXPECT_NEAR(left.value, -2, 1e-10);
  EXPECT_NEAR(right.value, 1, 1e-10);
}

TEST(CurveDerivative, StepsOverNoKinkThatIsNear) {
  CurveDerivative near =
      differentiate([](double t) { return std::abs(t + 1e-4); });
  ASSERT_FALSE(llvm::errorToBool(near.refineFully()));
  Estimate estimate = near.getDerivative(0);
  EXPECT_NEAR(estimate.value, 1, estimate.error);
  EXPECT_LE(estimate.error, 1e-9);
}

TEST(CurveDerivative, FindsJumps) {
  CurveDerivative jump =
      differentiate([](double t) { return t < 0 ? t : t + 1; });
  ASSERT_FALSE(llvm::errorToBool(jump.refineFully()));
  EXPECT_TRUE(jump.hasJump(0));
  EXPECT_TRUE(jump.hasKink(0));
}

TEST(CurveDerivative, LeavesWhatIsNotDefined) {
  CurveDerivative outside =
      differentiate([](double t) { return std::log(1e-4 + t); });
  EXPECT_FALSE(std::isfinite(outside.getDerivative(0).error));
  ASSERT_FALSE(llvm::errorToBool(outside.refineFully()));
  Estimate estimate = outside.getDerivative(0);
  EXPECT_NEAR(estimate.value, 1e4, estimate.error);
  EXPECT_LE(estimate.error, 10);

  CurveDerivative border = differentiate([](double t) { return std::log(t); });
  EXPECT_FALSE(border.isFinite(0));
}

TEST(CurveDerivative, PassesErrorsOn) {
  auto fail = [](double t) -> llvm::Expected<std::vector<double>> {
    if (t > 0)
      return llvm::createStringError("no further");
    return std::vector<double>{t};
  };
  auto derivative = CurveDerivative::create(fail, Sampling::forRoundoff(1e-7));
  ASSERT_FALSE(static_cast<bool>(derivative));
  EXPECT_EQ(llvm::toString(derivative.takeError()), "no further");
}
