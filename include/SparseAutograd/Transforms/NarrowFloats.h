//===- NarrowFloats.h - f16 and bf16 in f32 ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_NARROWFLOATS_H
#define SPARSEAUTOGRAD_TRANSFORMS_NARROWFLOATS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Does the arithmetic of f16 and bf16 below `root` in f32. A result is rounded
/// where anything but such arithmetic reads it, and then for all that do.
llvm::LogicalResult emulateNarrowFloats(mlir::Operation *root);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TRANSFORMS_NARROWFLOATS_H
