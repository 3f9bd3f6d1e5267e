//===- GradientCheck.h - gradients against differences ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNNER_GRADIENTCHECK_H
#define SPARSEAUTOGRAD_RUNNER_GRADIENTCHECK_H

#include "SparseAutograd/Runner/Runner.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace sparse_autograd {

/// What a comparison came to, the better ones first.
enum class Verdict {
  Agrees,
  /// The function is not smooth there, and the derivative is one of those that
  /// may be chosen: between the one-sided ones, or anything at a jump.
  Kink,
  /// The differences are too coarse to tell.
  Undecided,
  Differs
};

/// One derivative, by the compiler and by differences.
struct DerivativeComparison {
  Verdict verdict = Verdict::Agrees;
  /// By an element of the argument, or along a direction through all of them.
  std::optional<llvm::SmallVector<int64_t>> argumentIndex;
  /// Of an element of the result; of its sum with random weights if absent.
  std::optional<llvm::SmallVector<int64_t>> resultIndex;
  /// From reverse mode, not from forward mode.
  bool isReverse = false;
  double derivative = 0, difference = 0;
  /// How far the two may be apart.
  double bound = 0;
  /// At a kink: the differences to the left and to the right.
  std::optional<std::pair<double, double>> oneSided;
  /// The result jumps there.
  bool isJump = false;
};

/// The derivatives of one result by one argument.
struct PairCheck {
  std::string argument, result;
  Verdict verdict = Verdict::Agrees;
  /// The largest difference and the largest bound, relative to the derivative.
  double error = 0, bound = 0;
  /// <J v, u> - <v, J^T u>, relative to the sum of the magnitudes.
  double adjointError = 0, adjointBound = 0;
  /// How far the derivatives are from those of the f64 form, relative to the
  /// largest one; 0 without such a form.
  double rounding = 0;
  /// Whether that is more than rounding, so that everything else here is of the
  /// function in its own types.
  bool isInOwnTypes = false;
  /// Whether every element of the gradient was checked on its own.
  bool isElementwise = false;
  /// Elements of the argument where the result has a kink.
  uint64_t kinks = 0;
  /// Elements of the result that are not finite, which have no derivative.
  uint64_t notCompared = 0;
  /// The worst elements, worst first.
  std::vector<DerivativeComparison> worst;
};

/// The gradients of a function at a point, compared with differences.
struct GradientCheck {
  std::string function;
  uint64_t seed = 0;
  /// Of the narrowest floating type among arguments and results.
  double roundoff = 0;
  /// Of the differences, relative to the argument.
  double step = 0;
  /// Whether the differences are those of the f64 form of a function that has
  /// narrower floats; why there is none, else.
  bool isInF64 = false;
  std::string whyNotInF64;
  unsigned directions = 0;
  std::vector<PairCheck> pairs;

  /// Whether there is no pair that differs or is undecided.
  bool agrees() const;
  void write(llvm::raw_ostream &stream, ReportFormat format) const;
};

/// Differentiates the function of `options.entry`, which may be private, by all
/// of its floating arguments, and compares
///
/// * the Jacobian applied to random directions, from forward mode, with central
///   differences of five points, for every element of every result;
/// * every element of the gradient, from reverse mode, if an argument has at
///   most 64 of them;
/// * <J v, u> with <v, J^T u>: they agree within 64 n u of the sum of the
///   magnitudes, u the unit roundoff and n the elements of the larger side.
///
/// A function with floats narrower than f64 is checked in its f64 form
/// (FloatsToF64.h), whose derivatives are those of the same rules, and then its
/// own derivatives are compared with those: what is more than rounding is
/// checked in the own types as well. Without such a form everything is. The
/// bounds follow from the noise of rounding, which is measured. Integer
/// arguments and masks are held fixed, and so are the patterns of sparse
/// arguments, whose elements are their stored values. Dense floating arguments
/// that are not given and have static extents are drawn from a normal
/// distribution. The same seed gives the same report.
llvm::Expected<GradientCheck> checkGradients(const RunOptions &options);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_RUNNER_GRADIENTCHECK_H
