//===- OrderedKey.h - floats as integers of the same order ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The maximum or minimum of floats while a loop runs, scalars or vectors. An
// accumulator of `arith.maximumf` and its like is kept as an integer, the key
// of its float: keys are ordered as the floats are, -0.0 before 0.0, with NaN
// where the op wants it. LLVM vectorizes the maximum of integers without being
// told that there are no NaNs, which would not be true.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_ORDEREDKEY_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_ORDEREDKEY_H

#include "mlir/IR/Builders.h"

namespace sparse_autograd {

/// Whether `op` is a maximum or minimum of two f32 or f64, or of vectors of
/// them.
bool isExtremum(mlir::Operation *op);

/// The key of `value` for `extremum`. Any NaN has the key of one of them.
mlir::Value encodeKey(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Operation *extremum, mlir::Value value);

/// The float whose key is `key`.
mlir::Value decodeKey(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Operation *extremum, mlir::Value key);

/// The key of `extremum` of the floats with the keys `lhs` and `rhs`.
mlir::Value combineKeys(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Operation *extremum, mlir::Value lhs,
                        mlir::Value rhs);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_ORDEREDKEY_H
