//===- NormalQuantile.h - the inverse of the normal distribution *- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_NORMALQUANTILE_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_NORMALQUANTILE_H

#include "ScalarBuilder.h"

namespace sparse_autograd {

/// The number below which a standard normal variable falls with probability
/// `probability`, an f64 in (0, 1); an f64.
///
/// Built of additions, multiplications, divisions, square roots and bit
/// operations alone, which IEEE 754 rounds in one way: the result has the same
/// bits on every target. Algorithm: M. J. Wichura, Algorithm AS 241: The
/// percentage points of the normal distribution, Applied Statistics 37, 1988
/// (PPND16); its logarithm is a series of our own.
mlir::Value buildNormalQuantile(ScalarBuilder &scalars,
                                mlir::Value probability);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_NORMALQUANTILE_H
