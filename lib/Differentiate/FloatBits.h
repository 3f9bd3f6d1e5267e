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
// word. Linearization asks here, where a float is made of bits, whether they
// are those of a float that depends on an input. Integers that are rounded
// floats (`fptosi`) do not count: what is made of them is constant but for
// jumps.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FLOATBITS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FLOATBITS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Whether `op`, or a function that it calls, makes a float of the bits of an
/// integer.
bool makesFloatOfBits(mlir::Operation *op);

/// The float for which `isVaried` holds whose bits an integer that `op` reads
/// is computed of; null if there is none. Integers are followed through ops,
/// regions whose control flow is known, the elements of structured ops, and
/// calls.
mlir::Value findFloatOfBits(mlir::Operation *op,
                            llvm::function_ref<bool(mlir::Value)> isVaried);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_FLOATBITS_H
