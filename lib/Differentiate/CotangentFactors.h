//===- CotangentFactors.h - factors of sums of cotangents -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTFACTORS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTFACTORS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Multiplies terms of cotangents by a common factor once, in `derivative`,
/// which was built just now and has its marks: ct s + ct x c, the cotangent of
/// a value that is read in two ways, is ct (s + x c), and ct s - k x s, with a
/// k of each row, is s (ct - k x). What the program itself computes stays as it
/// is, and so does a term that something else reads or that is selected by a
/// mask: a NaN that is masked out meets nothing (semantics G1).
///
/// Where that factor is the cotangent, those that are left are multiplied with
/// each other instead of with what may be zero. So that this does not overflow,
/// all of a term but one are known to be small, as a cosine is. Another factor
/// is taken out of products of f32 and f64 alone (semantics G14).
void factorCotangents(mlir::func::FuncOp derivative);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTFACTORS_H
