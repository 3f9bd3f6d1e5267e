//===- CotangentSharing.h - products that several bodies need ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTSHARING_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTSHARING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Computes a product of elements that several bodies multiply once, in
/// `derivative`, which was built just now and has its marks: the cotangent of
/// the rows of a layer norm times w, and those rows as they are multiplied by
/// w. One of the bodies is that of a cotangent; what the program computes twice
/// stays as it is, and so does a product that is added to something, which may
/// be a product of matrices, or be rounded with the sum. All is the same bit
/// for bit: in f16 and bf16, where a body may keep more of a product than a
/// tensor, nothing is shared.
///
/// An op of its own is no tensor of its own: fusion computes it in its readers
/// again, where these are not one loop.
void shareCotangentProducts(mlir::func::FuncOp derivative);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_COTANGENTSHARING_H
