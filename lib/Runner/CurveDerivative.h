//===- CurveDerivative.h - differences along a line -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_CURVEDERIVATIVE_H
#define SPARSEAUTOGRAD_LIB_RUNNER_CURVEDERIVATIVE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <vector>

namespace sparse_autograd {

/// A vector that depends on a number, such as the results of a function along a
/// line through its arguments. It always has the same length.
using Curve = std::function<llvm::Expected<std::vector<double>>(double)>;

/// A number and a bound of its error, which is an estimate.
struct Estimate {
  double value = 0;
  double error = 0;
};

/// How a curve is sampled, by the precision that it is computed in.
struct Sampling {
  /// The unit roundoff: 2^-53 for f64.
  double roundoff;
  /// The step that is expected to balance truncation and rounding: about
  /// eps^(1/5), a power of two. Steps from eight times it down are taken.
  double step;
  /// The distance of the samples that measure the noise of rounding.
  double noiseStep;
  /// Bounds are this multiple of the measured noise.
  double safety;
  /// How many steps there are, each half of the one before.
  unsigned levels;
  /// A distance within this share of a derivative is none. Where a large number
  /// is added and subtracted again a curve has steps, and the samples that
  /// measure the noise may all lie on one.
  double ignoredShare = 0;
  /// Nor is one within this share of the result, by a step as large as the
  /// argument: where a function saturates, nothing is left of its derivative.
  double ignoredValue = 0;

  static Sampling forRoundoff(double roundoff);
};

/// The noise of rounding in each element of `curve` at 0: the standard
/// deviation that high differences of nearby values show, where nothing smooth
/// is left of the curve (Hamming; More and Wild, Estimating computational
/// noise, SIAM J. Sci. Comput. 33, 2011), and at least one rounding of the
/// value.
llvm::Expected<std::vector<double>> measureNoise(const Curve &curve,
                                                 const Sampling &sampling,
                                                 llvm::ArrayRef<double> center);

/// The derivative of a curve at 0 by central differences of five points.
///
/// The bound of an error is a multiple of the noise, as differences amplify it,
/// plus how much the difference changes as the step is halved, twice. Of
/// several steps each element takes the one with the least bound, among those
/// that no smaller step contradicts.
class CurveDerivative {
public:
  static llvm::Expected<CurveDerivative> create(Curve curve,
                                                const Sampling &sampling);

  size_t size() const { return center.size(); }

  /// Takes the next, smaller step; false if there is none.
  llvm::Expected<bool> refine();
  /// Takes all of them, and measures the noise again.
  llvm::Error refineFully();

  /// The derivative of an element by the steps taken so far; the error is
  /// infinite if the curve is not finite around 0.
  Estimate getDerivative(size_t element) const;

  /// Whether the element is finite at 0: else it has no derivative.
  bool isFinite(size_t element) const;
  /// The element at 0.
  double getValue(size_t element) const { return center[element]; }

  /// The derivatives from the left and from the right.
  std::pair<Estimate, Estimate> getOneSided(size_t element) const;
  /// Whether the element changes by as much however small the step is.
  bool hasJump(size_t element) const;
  /// Whether the one-sided derivatives differ beyond their bounds, or the
  /// element jumps.
  bool hasKink(size_t element) const;

private:
  CurveDerivative(Curve curve, const Sampling &sampling)
      : curve(std::move(curve)), sampling(sampling) {}

  double stepOf(size_t level) const;
  Estimate oneSided(size_t element, bool right) const;

  Curve curve;
  Sampling sampling;
  std::vector<double> center, noise;
  /// The samples at plus and minus each step.
  std::vector<std::vector<double>> above, below;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_CURVEDERIVATIVE_H
