//===- NormalQuantile.cpp - the inverse of the normal distribution --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormalQuantile.h"

using namespace mlir;
using namespace sparse_autograd;

/// A quotient of two polynomials of degree 7, the constant terms first.
struct Rational {
  double numerator[8];
  double denominator[8];
};

/// In 0.180625 - q^2 for |q| = |p - 0.5| <= 0.425, to be multiplied by q.
static constexpr Rational central = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2,
     1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
     5.3941960214247511077e+3, 2.1213794301586595867e+4,
     3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};

/// In r - 1.6 for r = sqrt(-log(min(p, 1 - p))) <= 5.
static constexpr Rational tail = {
    {1.42343711074968357734e0, 4.63033784615654529590e0,
     5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
     6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};

/// In r - 5 for r > 5.
static constexpr Rational farTail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0,
     1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
     1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

/// The natural logarithm of a positive normal f64.
///
/// x = 2^k m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s) with
/// s = (m - 1) / (m + 1), |s| < 0.1716. Eleven terms of the series
/// s + s^3/3 + ... leave less than 2^-56 of its value.
static Value buildLog(ScalarBuilder &scalars, Value x) {
  ImplicitLocOpBuilder &builder = scalars.getBuilder();
  Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
  Value bits = arith::BitcastOp::create(builder, i64, x);
  // Relative to the bits of sqrt(1/2), the exponent field is k.
  Value relative =
      arith::SubIOp::create(builder, bits, scalars.i64(0x3FE6A09E667F3BCD));
  Value exponent = arith::ShRSIOp::create(builder, relative, scalars.i64(52));
  Value mantissa = arith::BitcastOp::create(
      builder, f64,
      arith::SubIOp::create(
          builder, bits,
          arith::ShLIOp::create(builder, exponent, scalars.i64(52))));

  Value one = scalars.constant(1.0, f64);
  Value s = scalars.div(scalars.sub(mantissa, one), scalars.add(mantissa, one));
  Value square = scalars.mul(s, s);
  Value series = scalars.constant(1.0 / 21.0, f64);
  for (int power = 19; power >= 1; power -= 2)
    series = scalars.add(scalars.mul(series, square),
                         scalars.constant(1.0 / power, f64));
  Value logMantissa = scalars.mul(scalars.add(s, s), series);
  Value logPower = scalars.mul(scalars.toFloat(exponent, f64),
                               scalars.constant(0x1.62e42fefa39efp-1, f64));
  return scalars.add(logPower, logMantissa);
}

Value sparse_autograd::buildNormalQuantile(ScalarBuilder &scalars,
                                           Value probability) {
  ImplicitLocOpBuilder &builder = scalars.getBuilder();
  Type f64 = builder.getF64Type();
  auto constant = [&](double value) { return scalars.constant(value, f64); };

  Value centred = scalars.sub(probability, constant(0.5));
  Value isCentral = scalars.compare(arith::CmpFPredicate::OLE,
                                    scalars.abs(centred), constant(0.425));
  Value isLower =
      scalars.compare(arith::CmpFPredicate::OLT, centred, constant(0.0));
  Value nearer = scalars.select(isLower, probability,
                                scalars.sub(constant(1.0), probability));
  Value root =
      scalars.sqrt(scalars.sub(constant(0.0), buildLog(scalars, nearer)));
  Value isFar = scalars.compare(arith::CmpFPredicate::OGT, root, constant(5.0));

  // One rational function is evaluated, with the coefficients of the region:
  // no branch keeps the lanes of a vector apart.
  Value argument = scalars.select(
      isCentral, scalars.sub(constant(0.180625), scalars.mul(centred, centred)),
      scalars.sub(root, scalars.select(isFar, constant(5.0), constant(1.6))));
  auto evaluate = [&](const double (Rational::*coefficients)[8]) {
    Value value;
    for (int power = 7; power >= 0; --power) {
      Value coefficient = scalars.select(
          isCentral, constant((central.*coefficients)[power]),
          scalars.select(isFar, constant((farTail.*coefficients)[power]),
                         constant((tail.*coefficients)[power])));
      value = value ? scalars.add(scalars.mul(value, argument), coefficient)
                    : coefficient;
    }
    return value;
  };
  Value ratio = scalars.div(evaluate(&Rational::numerator),
                            evaluate(&Rational::denominator));
  Value sign = scalars.select(isLower, constant(-1.0), constant(1.0));
  return scalars.mul(ratio, scalars.select(isCentral, centred, sign));
}
