//===- AdjointIdentity.cpp - forward mode against reverse mode ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointIdentity.h"
#include "CompareDerivatives.h"
#include <algorithm>
#include <cmath>

using namespace sparse_autograd;

namespace {
/// The two sides of <J v, u> = <v, J^T u>.
struct AdjointSums {
  double forward = 0, reverse = 0;
  /// The magnitudes of the products on both sides.
  double magnitude = 0;
  /// A bound of the rounding in J v.
  double rounding = 0;

  /// Adds <J v, u>, of the elements of a result from `begin` on. Elements that
  /// have no derivative become 0 in `cotangent`.
  void addForward(const DerivativeLine &line, size_t begin,
                  Elements &cotangent);
  void addReverse(const Elements &direction, const Elements &gradient);
};
} // namespace

void AdjointSums::addForward(const DerivativeLine &line, size_t begin,
                             Elements &cotangent) {
  for (size_t i = 0; i < cotangent.size(); ++i) {
    double &weight = cotangent[i];
    if (!line.getDifferences().isFinite(begin + i))
      weight = 0;
    if (weight == 0)
      continue;
    double product = weight * line.getDerivative(begin + i);
    forward += product;
    magnitude += std::abs(product);
    rounding += std::abs(weight) * line.getRounding(begin + i);
  }
}

void AdjointSums::addReverse(const Elements &direction,
                             const Elements &gradient) {
  for (size_t i = 0; i < direction.size(); ++i) {
    if (direction[i] == 0)
      continue;
    double product = direction[i] * gradient[i];
    reverse += product;
    magnitude += std::abs(product);
  }
}

/// Rates a pair by the sums of at most `count` products on each side.
static void rateAdjoint(PairCheck &pair, const AdjointSums &sums, size_t count,
                        double roundoff) {
  double error = 0;
  double bound = 64 * static_cast<double>(count) * roundoff;
  // Of products that are no numbers, neither is the magnitude. All of them may
  // be less than what is left of the rounding.
  if (sums.magnitude != 0 && !(sums.magnitude <= sums.rounding)) {
    error = std::abs(sums.forward - sums.reverse) / sums.magnitude;
    bound += sums.rounding / sums.magnitude;
  }
  // A wrong rule is wrong by more than this.
  bound = std::min(bound, 0.125);
  // Negated, as the error may be no number.
  if (!(error <= pair.adjointError))
    pair.adjointError = error;
  pair.adjointBound = std::max(pair.adjointBound, bound);
  if (!(error <= bound))
    pair.verdict = std::max(pair.verdict, judgeDistance(pair, sums.reverse));
}

llvm::Error
sparse_autograd::checkAdjointIdentity(const CheckedFunction &function,
                                      const DerivativeLine &line, size_t result,
                                      Elements cotangent, PairCheck &pair) {
  AdjointSums sums;
  sums.addForward(line, function.getRange(result).first, cotangent);
  llvm::Expected<std::vector<Elements>> pulled =
      function.pullBack(result, cotangent);
  if (!pulled)
    return pulled.takeError();
  const Elements &direction = line.getDirection();
  sums.addReverse(direction, (*pulled)[line.getArgument()]);
  rateAdjoint(pair, sums, std::max(direction.size(), cotangent.size()),
              function.getRoundoff());
  return llvm::Error::success();
}
