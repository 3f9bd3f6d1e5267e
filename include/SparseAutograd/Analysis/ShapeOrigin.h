//===- ShapeOrigin.h - where the extents of a tensor come from --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_SHAPEORIGIN_H
#define SPARSEAUTOGRAD_ANALYSIS_SHAPEORIGIN_H

#include "mlir/IR/Value.h"

namespace sparse_autograd {

/// An operand of the op that computes `value` with the same extents, as
/// structured ops, elementwise ops and casts have one; or null.
mlir::Value getOperandOfSameShape(mlir::Value value);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_SHAPEORIGIN_H
