//===- ShapeAssertions.h - what ops ask of extents and offsets --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_SHAPEASSERTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_SHAPEASSERTIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// Builds an assertion of `holds`, an i1; the message says `detail` of the op.
using CreateAssertion =
    llvm::function_ref<void(mlir::Value holds, const llvm::Twine &detail)>;

/// Whether `assertShapes` knows what `op` asks of its extents and offsets:
/// tensor ops without a runtime verification of MLIR's own.
bool hasShapeAssertions(mlir::Operation *op);

/// Asserts, before `op`, what it asks of extents and offsets that the types
/// leave open: that an inserted slice lies in its destination and has the
/// extents of its source, that an expanded dimension is divided without a
/// remainder, that concatenated tensors agree, that no padding is negative,
/// that what is sampled has the extents of the pattern.
void assertShapes(mlir::OpBuilder &builder, mlir::Operation *op,
                  CreateAssertion createAssertion);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_SHAPEASSERTIONS_H
