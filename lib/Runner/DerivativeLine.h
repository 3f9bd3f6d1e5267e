//===- DerivativeLine.h - derivatives along a line --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_DERIVATIVELINE_H
#define SPARSEAUTOGRAD_LIB_RUNNER_DERIVATIVELINE_H

#include "CheckedFunction.h"
#include "CurveDerivative.h"
#include <optional>

namespace sparse_autograd {

/// `x` rounded to 8 significant bits, and 0 if it is not finite: every floating
/// type holds such a number, and its product with a power of two.
double shorten(double x);

/// The root of the mean square of the finite elements: how large a step through
/// the argument has to be. 1 if that is zero or not finite.
double rootMeanSquare(const Elements &elements);

/// A bound beyond this share of the derivative says nothing; of types with few
/// digits less can be asked.
double getCoarseShare(const Sampling &sampling);

/// A bound within this share of the derivative tells right from wrong: no
/// smaller steps are taken. Less than 1 % where the precision is that of f64.
double getFineShare(const Sampling &sampling);

/// The sizes of the derivatives along a line, of the elements of one result: of
/// each size the largest. Elements that are not finite at the point count for
/// none.
struct LineSummary {
  /// The derivatives, by forward mode and by the differences that are larger
  /// than their errors.
  double scale = 0;
  /// The distances of the two, where the differences have a finite error.
  double error = 0;
  /// How far the two may be apart; infinite where the differences are.
  double bound = 0;
  /// Whether all derivatives by forward mode are zero within their rounding.
  bool isZero = true;
  /// The element that is the furthest beyond its bound, among the elements of
  /// all results; none if all are within theirs.
  std::optional<size_t> worst;

  /// Whether the bound says nothing beside a derivative of the given size, of
  /// which it may be the given share.
  bool isCoarse(double share, double size) const;
};

/// A line through one argument of a function at its point: the derivatives of
/// all results along it, by forward mode and by differences.
///
/// Derivatives are with respect to the t of CheckedFunction::evaluate, at 0.
/// Elements of the results are counted through all of them, as in
/// CheckedFunction::getRange.
class DerivativeLine {
public:
  /// Takes the derivatives of `function`, which has to outlive the line, along
  /// `direction`, which has as many elements as the argument. Where the first
  /// differences are unclear all steps of `sampling` are taken. Fails if a call
  /// of the function does.
  static llvm::Expected<DerivativeLine> create(const CheckedFunction &function,
                                               const Sampling &sampling,
                                               size_t argument,
                                               Elements direction);

  size_t getArgument() const { return argument; }
  const Elements &getDirection() const { return direction; }

  const CurveDerivative &getDifferences() const { return differences; }
  /// The derivative of an element by forward mode.
  double getDerivative(size_t element) const { return derivatives[element]; }
  /// A bound of the rounding in that derivative.
  double getRounding(size_t element) const { return rounding[element]; }
  /// How far the derivatives of an element by forward mode and by differences
  /// may be apart; infinite if the result is not finite around the point.
  double getBound(size_t element) const;
  /// How far they are apart beyond the bound: positive if they differ, infinite
  /// if the one by forward mode is not finite and the differences are; minus
  /// infinity if there is nothing to compare with.
  double getExcess(size_t element) const;

  /// The sizes of the derivatives of one result.
  LineSummary summarize(size_t result) const;
  /// Whether a result differs or its bound is not fine, so that smaller steps
  /// may tell more.
  bool isUnclear() const;
  /// Whether the line leaves where the function is defined: an element of a
  /// result is finite at the point, but at no step that was taken.
  bool leavesDomain() const;

private:
  DerivativeLine(const CheckedFunction &function, const Sampling &sampling,
                 size_t argument, Elements direction,
                 CurveDerivative differences, Elements derivatives,
                 std::vector<double> rounding)
      : function(function), fineShare(getFineShare(sampling)),
        ignoredShare(sampling.ignoredShare), argument(argument),
        direction(std::move(direction)), differences(std::move(differences)),
        derivatives(std::move(derivatives)), rounding(std::move(rounding)) {}

  const CheckedFunction &function;
  double fineShare;
  double ignoredShare;
  size_t argument;
  Elements direction;
  CurveDerivative differences;
  Elements derivatives;
  std::vector<double> rounding;
};

/// A line along one element of an argument.
struct ElementLine {
  /// Takes a line that changes the element by its magnitude, and by no less
  /// than an eighth of the root mean square of the argument. If that is unclear
  /// the line is as short as the element is small. Fails if a call of the
  /// function does.
  static llvm::Expected<ElementLine> create(const CheckedFunction &function,
                                            const Sampling &sampling,
                                            size_t argument, size_t element);

  /// The sizes of the derivatives of one result by the element.
  LineSummary summarize(size_t result) const;

  DerivativeLine line;
  /// The element of the argument.
  size_t element;
  /// How much the element changes as t goes from 0 to 1: derivatives along the
  /// line are this multiple of those by the element. It is 1, and the line
  /// stays at the point, if the element is not finite.
  double step;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_DERIVATIVELINE_H
