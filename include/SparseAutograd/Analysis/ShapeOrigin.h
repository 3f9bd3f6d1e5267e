//===- ShapeOrigin.h - where the extents of a tensor come from --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_ANALYSIS_SHAPEORIGIN_H
#define SPARSEAUTOGRAD_ANALYSIS_SHAPEORIGIN_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// An operand of the op that computes `value` with the same extents, as
/// structured ops, elementwise ops and casts have one; or null.
mlir::Value getOperandOfSameShape(mlir::Value value);

/// Whether `op` is one of two tensors as a whole, whatever the extents of the
/// other: a select by a scalar.
bool choosesTensor(mlir::Operation *op);

/// Whether two tensors are known to have the same extents.
bool haveSameShape(mlir::Value a, mlir::Value b);

/// The extent `dim` of `tensor`, if the types of what it comes from say it.
std::optional<int64_t> getConstantExtent(mlir::Value tensor, int64_t dim);

/// Whether each iteration of `loop` yields for `result`, a tensor, the extent
/// `dim` of what the iteration starts from.
bool keepsExtent(mlir::scf::ForOp loop, mlir::OpResult result, int64_t dim);

/// Whether a slice of `tensor` at `offsets`, in which it lies, has no elements
/// because it begins where a dimension ends, as far as types say: that of
/// `tensor`, or of what it is cast from. MLIR refuses such a slice, and a view.
bool isSliceAtEnd(llvm::ArrayRef<mlir::OpFoldResult> offsets,
                  mlir::Value tensor);

/// Whether the extents of `value`, which a region of `scope` computes, are
/// known before `scope`: they are constants, or those of a value from outside.
/// What a loop carries has the extents that it starts with. A value that is not
/// a tensor has none.
bool hasOuterShape(mlir::Operation *scope, mlir::Value value);

/// These extents, read at `builder`, before `scope`.
llvm::SmallVector<mlir::OpFoldResult> getOuterShape(mlir::OpBuilder &builder,
                                                    mlir::Operation *scope,
                                                    mlir::Value value);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_ANALYSIS_SHAPEORIGIN_H
