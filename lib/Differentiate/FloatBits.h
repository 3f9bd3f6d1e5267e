//===- FloatBits.h - floats made of the bits of floats ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers have no derivatives, so a value that goes through the bits of a
// float, as in `bitcast(bitcast(x) + 1)`, would lose its derivative without a
// word. It is refused before a program is linearized. Integers that are rounded
// floats (`fptosi`) do not count: what is made of them is constant but for
// jumps.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FLOATBITS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FLOATBITS_H

#include "Activity.h"

namespace sparse_autograd {

/// Checks that no float that an output depends on is made of the bits of one
/// that is computed of `inputs`. Values are followed through ops other than
/// stop_gradient, regions whose control flow is known, the elements of
/// structured ops, and calls.
llvm::LogicalResult checkFloatBits(mlir::Region &region,
                                   llvm::ArrayRef<mlir::Value> inputs,
                                   const ActivityAnalysis &activity);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FLOATBITS_H
