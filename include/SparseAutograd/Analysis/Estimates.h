//===- Estimates.h - guesses of what types leave open -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place with guesses about data: what a dimension, a loop or a row is
// taken to have where neither its type nor a hint says it. Format selection,
// the plans of loops, fusion and residuals read them, so that they estimate the
// same loop alike. Numbers of machines are in Target/TargetInfo.h.
//
// A guess may choose an order of loops or a copy; it never changes what is
// computed.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_ESTIMATES_H
#define SPARSEAUTOGRAD_ANALYSIS_ESTIMATES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"

namespace sparse_autograd {

struct Estimates {
  /// The extent of a dimension, and how often a loop runs: about the columns of
  /// a dense operand beside a sparse one. A row of as many elements of any type
  /// fills a cache line.
  int64_t extent = 64;
  /// The elements that a row of a sparse tensor stores.
  int64_t rowEntries = 8;

  /// A product of matrices with fewer multiply-adds, known statically, is worth
  /// no call of a library.
  int64_t smallProduct = 4096;

  /// `known`, an extent or a number of iterations, or the guess if it is not
  /// known.
  constexpr int64_t getExtent(int64_t known) const {
    return mlir::ShapedType::isDynamic(known) ? extent : known;
  }
};

inline constexpr Estimates estimates;

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_ESTIMATES_H
