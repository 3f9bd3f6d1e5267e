//===- SparseCotangents.h - cotangents that zeros leave -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_SPARSECOTANGENTS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_SPARSECOTANGENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Stores cotangents of dense values in the format of a sparse tensor, in
/// `derivative`, which was built just now and has its marks.
///
/// In y = A * tanh(X Y), with a sparse A, the cotangent of tanh(X Y) is that of
/// y times A: zero where A stores nothing, and so is the cotangent of X Y. As
/// dense tensors both would take the memory of X Y. They are computed and
/// stored at the pattern of A if everything that reads them does nothing where
/// they store nothing: factors of products, which then are sparse products,
/// other such cotangents, and sums.
///
/// A cotangent that is stored at a pattern is structurally zero elsewhere: what
/// a NaN of X Y would have made of it there reaches nobody (semantics G1).
void storeSparseCotangents(mlir::func::FuncOp derivative);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_SPARSECOTANGENTS_H
