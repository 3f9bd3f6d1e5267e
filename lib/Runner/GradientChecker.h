//===- GradientChecker.h - the gradients at one point -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_GRADIENTCHECKER_H
#define SPARSEAUTOGRAD_LIB_RUNNER_GRADIENTCHECKER_H

#include "CompareDerivatives.h"
#include "RandomNumbers.h"

namespace sparse_autograd {

/// Checks the derivatives of all results of a function by all of its floating
/// arguments at one point.
///
/// A small argument is checked element by element: forward and reverse mode are
/// compared with differences. Then every argument is checked along random
/// directions: forward mode is compared with differences, and with reverse mode
/// by the adjoint identity. Where a direction differs the element that is to
/// blame is looked for, is checked on its own, and is left out of the other
/// directions.
class GradientChecker {
public:
  /// Random numbers follow from `check.seed`. Both `function` and `check` have
  /// to outlive the checker. Distances within `ignoredShare` of a derivative
  /// are none, nor are those within its square of the result.
  GradientChecker(const CheckedFunction &function, GradientCheck &check,
                  double ignoredShare = 0);

  /// Fills in what the check is of and adds a pair for each argument and
  /// result. Run it once. A wrong derivative is a verdict and no error: it
  /// fails if a call of the function does.
  llvm::Error run();

private:
  /// The pair of a floating argument and a floating result.
  PairCheck &getPair(size_t argument, size_t result) {
    return check.pairs[argument * function.getResults().size() + result];
  }

  /// Adds a pair for each argument and result, by argument.
  void addPairs();
  /// Looks at the results and takes the gradients at the point.
  llvm::Error preparePoint();
  /// Random weights for the elements of a result.
  Elements makeCotangent(size_t result);

  /// Checks every element of an argument on its own.
  llvm::Error checkElements(size_t argument);
  /// Checks the derivatives of all results by one element of the argument, and
  /// returns their sizes.
  llvm::Expected<std::vector<LineSummary>> checkElement(size_t argument,
                                                        size_t element);
  /// The same for one result. Elements with a kink or a wrong derivative count
  /// as judged; at a kink the sizes are left out.
  LineSummary checkElementOfPair(const ElementLine &line, size_t result);

  /// Checks an argument along random directions.
  llvm::Error checkDirections(size_t argument);
  /// A line along a random direction through the finite elements that have not
  /// been judged, within where the function is defined if that can be had.
  llvm::Expected<DerivativeLine> makeLine(size_t argument);
  /// A random direction through those elements. Its steps are as large as each
  /// element if `isRelative`, else as large as the elements of the argument are
  /// in the root mean square.
  Elements makeDirection(size_t argument, bool isRelative);
  /// Compares forward mode with differences. Elements to blame are looked for
  /// if `mayLocate`. False if that ended early, at such an element, which has
  /// been checked on its own.
  llvm::Expected<bool> checkLine(const DerivativeLine &line, bool mayLocate);
  /// The same for one result whose sizes along the line are given, without
  /// looking for an element to blame.
  void checkLineOfPair(const DerivativeLine &line, size_t result,
                       const LineSummary &summary);
  /// Looks for an element of the argument to blame for what an element of the
  /// results differs by, and checks it on its own. False if there is none that
  /// has not been judged.
  llvm::Expected<bool> checkCulprit(const DerivativeLine &line,
                                    size_t resultElement);

  const CheckedFunction &function;
  GradientCheck &check;
  Sampling sampling;
  double coarseShare;
  RandomNumbers random;
  /// For each result.
  std::vector<ResultGradients> gradients;
  /// Elements of the argument that is checked which have been judged on their
  /// own: directions leave them out.
  std::vector<bool> isJudged;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_GRADIENTCHECKER_H
