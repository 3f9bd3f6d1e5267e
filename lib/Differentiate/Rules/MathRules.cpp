//===- MathRules.cpp - derivative rules of math ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of math on floats. Formulas are chosen to stay accurate, and finite
// where the derivative is, over the whole range of the type: f16 overflows at
// 65504, so already the square of 256 is to be avoided.
//
//===----------------------------------------------------------------------===//

#include "ExtremumFormulas.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Differentiate/ScalarRule.h"
#include "WithoutTangent.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace sparse_autograd;

static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
static constexpr double infinity = std::numeric_limits<double>::infinity();

static FloatFormula ln2() {
  return FloatFormula::named("ln(2)", llvm::numbers::ln2);
}
static FloatFormula ln10() {
  return FloatFormula::named("ln(10)", llvm::numbers::ln10);
}
static FloatFormula twoOverSqrtPi() {
  return FloatFormula::named("(2 / sqrt(pi))", 2 * llvm::numbers::inv_sqrtpi);
}

/// sqrt(1 - x * x), without the cancellation near 1.
static FloatFormula cofunction(const FloatFormula &x) {
  return sqrt((1 - x) * (1 + x));
}

/// sqrt(1 + x * x), without overflow: scaled by m >= |x|.
static FloatFormula hypotenuse(const FloatFormula &x) {
  FloatFormula m = maximum(abs(x), 1);
  FloatFormula ratio = minimum(abs(x), 1) / m;
  return m * sqrt(1 + ratio * ratio);
}

/// a / (a * a + b * b), scaled likewise.
static FloatFormula overSquares(const FloatFormula &a, const FloatFormula &b) {
  FloatFormula m = maximum(abs(a), abs(b));
  FloatFormula ratio = minimum(abs(a), abs(b)) / m;
  return a / m / (m * (1 + ratio * ratio));
}

static const auto &mathRules() {
  static const auto rules = scalarRules(
      rule<math::AbsFOp>(
          [](auto x, auto) { return select(x == 0, 0, copysign(1, x)); })
          .checkedOn({-2, -0.1})
          .checkedOn({0.1, 2})
          .kink("0 at 0", {0}, {0}),
      rule<math::AcosOp>([](auto x, auto) {
        return -1 / cofunction(x);
      }).checkedOn({-0.9, 0.9}),
      rule<math::AcoshOp>([](auto x, auto) {
        return 1 / (sqrt(x - 1) * sqrt(x + 1));
      }).checkedOn({1.2, 4}),
      rule<math::AsinOp>([](auto x, auto) {
        return 1 / cofunction(x);
      }).checkedOn({-0.9, 0.9}),
      rule<math::AsinhOp>([](auto x, auto) {
        return 1 / hypotenuse(x);
      }).checkedOn({-4, 4}),
      rule<math::AtanOp>([](auto x, auto) {
        return 1 / (1 + x * x);
      }).checkedOn({-4, 4}),
      rule<math::Atan2Op>([](auto a, auto b, auto) {
        return partials(overSquares(b, a), -overSquares(a, b));
      })
          .checkedOn({-2, 2}, {0.5, 2})
          .checkedOn({0.5, 2}, {-2, 2}),
      rule<math::AtanhOp>([](auto x, auto) {
        return 1 / ((1 - x) * (1 + x));
      }).checkedOn({-0.9, 0.9}),
      rule<math::CbrtOp>([](auto, auto y) { return 1 / (3 * (y * y)); })
          .checkedOn({0.1, 4})
          .checkedOn({-4, -0.1})
          .kink("infinite at 0", {0}, {infinity}),
      rule<math::CeilOp>([](auto, auto) { return 0; })
          .checkedOn({-1.9, -1.1})
          .checkedOn({0.1, 0.9})
          .kink("0 at a step", {1}, {0}),
      // The lower bound is applied last, as in max(min(a, c), b).
      rule<math::ClampFOp>([](auto a, auto b, auto c, auto y) {
        auto inner = minimum(a, c);
        auto share = shareOfExtremum(inner, b, y, 1);
        return partials(shareOfExtremum(a, c, inner, share),
                        shareOfExtremum(b, inner, y, 1),
                        shareOfExtremum(c, a, inner, share));
      })
          .checkedOn({-0.9, 0.9}, {-2, -1}, {1, 2})
          .checkedOn({-3, -2.1}, {-2, -1}, {1, 2})
          .checkedOn({2.1, 3}, {-2, -1}, {1, 2})
          .kink("ties share equally", {1, 0, 1}, {0.5, 0, 0.5})
          .kink("a NaN passes", {notANumber, 0, 1}, {1, 0, 0}),
      rule<math::CopySignOp>([](auto a, auto b, auto) {
        return partials(select(a == 0, 0, copysign(1, a) * copysign(1, b)), 0);
      })
          .checkedOn({0.1, 2}, {-2, -0.1})
          .checkedOn({-2, -0.1}, {-2, -0.1})
          .checkedOn({-2, -0.1}, {0.1, 2})
          .kink("0 at 0", {0, 1}, {0, 0}),
      rule<math::CosOp>([](auto x, auto) {
        return -sin(x);
      }).checkedOn({-4, 4}),
      rule<math::CoshOp>([](auto x, auto) {
        return sinh(x);
      }).checkedOn({-3, 3}),
      rule<math::ErfOp>([](auto x, auto) {
        return twoOverSqrtPi() * exp(-(x * x));
      }).checkedOn({-3, 3}),
      rule<math::ErfcOp>([](auto x, auto) {
        return -(twoOverSqrtPi() * exp(-(x * x)));
      }).checkedOn({-3, 3}),
      rule<math::ExpOp>([](auto, auto y) { return y; }).checkedOn({-3, 3}),
      rule<math::Exp2Op>([](auto, auto y) {
        return ln2() * y;
      }).checkedOn({-4, 4}),
      // Not y + 1, which cancels where x is far below 0.
      rule<math::ExpM1Op>([](auto x, auto) {
        return exp(x);
      }).checkedOn({-3, 3}),
      rule<math::FloorOp>([](auto, auto) { return 0; })
          .checkedOn({-1.9, -1.1})
          .checkedOn({0.1, 0.9})
          .kink("0 at a step", {1}, {0}),
      rule<math::FmaOp>(
          [](auto a, auto b, auto, auto) { return partials(b, a, 1); })
          .linear()
          .checkedOn({-2, 2}, {-2, 2}, {-2, 2}),
      rule<math::FPowIOp>([](auto a, auto n, auto) {
        return partials(
            select(isZero(n), 0, toFloat(n, a) * pow(a, predecessor(n))), 0);
      })
          .checkedOn({0.5, 2}, {-3, 4})
          .checkedOn({-2, -0.5}, {-3, 4})
          .kink("0 for the power 0, at 0 too", {0, 0}, {0, 0})
          .kink("1 for the power 1 at 0", {0, 1}, {1, 0}),
      rule<math::LogOp>([](auto x, auto) { return 1 / x; }).checkedOn({0.2, 4}),
      rule<math::Log10Op>([](auto x, auto) {
        return 1 / (ln10() * x);
      }).checkedOn({0.2, 4}),
      rule<math::Log1pOp>([](auto x, auto) {
        return 1 / (1 + x);
      }).checkedOn({-0.8, 3}),
      rule<math::Log2Op>([](auto x, auto) {
        return 1 / (ln2() * x);
      }).checkedOn({0.2, 4}),
      rule<math::PowFOp>([](auto a, auto b, auto y) {
        return partials(select(b == 0, 0, b * pow(a, b - 1)),
                        select(a == 0 && b >= 0, 0, y * log(a)));
      })
          .checkedOn({0.2, 3}, {-2.5, 2.5})
          .kink("0 for the power 0, at 0 too", {0, 0}, {0, 0})
          .kink("1 for the power 1 at 0", {0, 1}, {1, 0})
          .kink("0 by the power at 0", {0, 0.5}, {infinity, 0})
          .kink("a negative base has no derivative by the power", {-2, 2},
                {-4, notANumber}),
      rule<math::RoundOp>([](auto, auto) { return 0; })
          .checkedOn({-1.4, -0.6})
          .checkedOn({0.6, 1.4})
          .kink("0 at a step", {0.5}, {0}),
      rule<math::RoundEvenOp>([](auto, auto) { return 0; })
          .checkedOn({-1.4, -0.6})
          .checkedOn({0.6, 1.4})
          .kink("0 at a step", {0.5}, {0}),
      rule<math::RsqrtOp>([](auto, auto y) {
        return -0.5 * y * (y * y);
      }).checkedOn({0.3, 4}),
      rule<math::SinOp>([](auto x, auto) { return cos(x); }).checkedOn({-4, 4}),
      rule<math::SincosOp>([](auto, auto y0, auto y1) {
        return partials(y1, -y0);
      }).checkedOn({-4, 4}),
      rule<math::SinhOp>([](auto x, auto) {
        return cosh(x);
      }).checkedOn({-3, 3}),
      rule<math::SqrtOp>([](auto, auto y) { return 0.5 / y; })
          .checkedOn({0.3, 4})
          .kink("infinite at 0", {0}, {infinity}),
      rule<math::TanOp>([](auto, auto y) {
        return 1 + y * y;
      }).checkedOn({-1.2, 1.2}),
      // Not 1 - y * y: y * y rounds away what is left near 1.
      rule<math::TanhOp>([](auto, auto y) {
        return (1 - y) * (1 + y);
      }).checkedOn({-3, 3}),
      rule<math::TruncOp>([](auto, auto) { return 0; })
          .checkedOn({-1.9, -1.1})
          .checkedOn({0.1, 0.9})
          .kink("0 at a step", {1}, {0}));
  return rules;
}

SmallVector<const ScalarRule *> sparse_autograd::listMathScalarRules() {
  return mathRules().list();
}

void sparse_autograd::registerMathDerivativeRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attachScalarRules<mathRules>(*context);
    attachWithoutTangent<math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
                         math::IsNormalOp>(*context);
  });
}
