//===- MaskOpInterface.h - ops that select by a mask ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_INTERFACES_MASKOPINTERFACE_H
#define SPARSEAUTOGRAD_INTERFACES_MASKOPINTERFACE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace sparse_autograd {

/// Checks that the mask of `op`, which implements MaskOpInterface, has the
/// shape of the masked operand's dimensions that it ranges over.
llvm::LogicalResult verifyMask(mlir::Operation *op);

} // namespace sparse_autograd

#include "SparseAutograd/Interfaces/MaskOpInterface.h.inc"

#endif // SPARSEAUTOGRAD_INTERFACES_MASKOPINTERFACE_H
