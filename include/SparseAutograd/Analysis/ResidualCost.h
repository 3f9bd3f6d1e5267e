//===- ResidualCost.h - what keeping and computing again costs --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_RESIDUALCOST_H
#define SPARSEAUTOGRAD_ANALYSIS_RESIDUALCOST_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// The additions that take as long as moving a byte between memory and a core
/// that has its vector units and its share of the bandwidth: a core adds some
/// 50 to 100 numbers in a nanosecond in which it moves about 10 bytes.
inline constexpr int64_t additionsPerByte = 8;

/// The bytes of a value of `type`.
int64_t estimateBytes(mlir::Type type);

/// What it costs to keep a byte: it is written once and read once. In the unit
/// of `estimateCost`.
inline constexpr int64_t costOfKeptByte = 2 * additionsPerByte;

/// What it costs to execute `op`, in additions; nothing if it must not be
/// executed twice.
std::optional<int64_t> estimateCost(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_RESIDUALCOST_H
