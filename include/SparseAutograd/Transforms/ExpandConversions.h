//===- ExpandConversions.h - converts of other element types ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_EXPANDCONVERSIONS_H
#define SPARSEAUTOGRAD_TRANSFORMS_EXPANDCONVERSIONS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Writes each `sparse_tensor.convert` below `root` that changes the element
/// type as an elementwise conversion of its source, and then a convert that
/// changes the storage alone, if that changes: all other code sees no convert
/// of another kind. Differentiation, format selection and the lowering of each
/// op call it first. A convert of other than floating element types is an
/// error.
llvm::LogicalResult expandConversions(mlir::Operation *root);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_EXPANDCONVERSIONS_H
