//===- RoundingCheck.h - derivatives against those in f64 -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounding errors of derivatives: those of a function in its own types against
// those of its f64 form, which have been compared with differences.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_ROUNDINGCHECK_H
#define SPARSEAUTOGRAD_LIB_RUNNER_ROUNDINGCHECK_H

#include "CheckedFunction.h"
#include "RandomNumbers.h"
#include "SparseAutograd/Runner/GradientCheck.h"

namespace sparse_autograd {

/// Takes the derivatives of both functions by each argument, by forward and by
/// reverse mode, at the point and at random places around it, and sets
/// `rounding` of each pair of `check` to the largest distance at the point,
/// relative to the largest derivative.
///
/// Rounding errors fluctuate from a place to the next one, while a fault is
/// much the same, or much the same share of the derivative: a distance at the
/// point is an error of rounding if it is within 16 standard deviations of the
/// distances at all places, or within 64 n u of the largest derivative, or of
/// the result, as a share of the argument, if that is more: u is the unit
/// roundoff of the narrowest float, `roundoff`, and n the elements of the
/// larger side. Returns for each pair whether its distances are. Fails if a
/// call of a function does.
llvm::Expected<std::vector<bool>> compareWithF64(const CheckedFunction &own,
                                                 const CheckedFunction &wide,
                                                 double roundoff,
                                                 GradientCheck &check);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_ROUNDINGCHECK_H
