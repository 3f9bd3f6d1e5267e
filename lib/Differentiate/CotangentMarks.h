//===- CotangentMarks.h - which ops make cotangents -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What transposition computes is told from what the program computes by marks
// on ops. They are there while a derivative is built, and no longer.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTMARKS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTMARKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Says that `value`, a float or a dense tensor, is a cotangent, or a term of
/// one.
void markCotangent(mlir::Value value);

/// Whether `op` computes what is marked.
bool isMarkedCotangent(mlir::Operation *op);

/// Whether `value` is marked, or is a cotangent that the derivative is given:
/// an argument that its type does not have yet.
bool isKnownCotangent(mlir::Value value);

/// Takes the marks of `derivative` away.
void dropCotangentMarks(mlir::func::FuncOp derivative);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTMARKS_H
