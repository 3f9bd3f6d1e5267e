//===- StructuredBuilders.h - dense and sparse alike ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders for code that is the same on dense and on sparse tensors: a result
// like a dense tensor has all elements, one like a sparse tensor those of its
// pattern.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_STRUCTUREDBUILDERS_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_STRUCTUREDBUILDERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// A tensor of the shape, and the pattern, of the tensor `like`, with elements
/// of `elementType`, to write an elementwise result into; and one of zeros.
mlir::Value createEmptyLike(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value like, mlir::Type elementType);
mlir::Value createZeros(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value like, mlir::Type elementType);

/// A tensor of `type` with the extents of `like` to write to, which stores
/// nothing yet if it is sparse.
mlir::Value createEmptyOfType(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::RankedTensorType type, mlir::Value like);

/// A dense tensor of the shape and the element type of the tensor `like`, which
/// is `like` itself if it is dense, to read extents from or to write to.
mlir::Value createDenseLike(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value like);

/// The rows of the dense tensor `table` that `indices` names, as a
/// `linalg.generic` of reads: what `gather` means. The extents of a row are
/// read from `like`, a tensor of the shape of the table.
mlir::Value createGather(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value table, mlir::Value indices,
                         mlir::Value like, mlir::RankedTensorType type);

/// A structured op with one result, on the pattern of `init` if that is sparse:
/// a `linalg.generic` or a `sampled_generic`. Without `buildBody` its region
/// has no block yet.
mlir::linalg::LinalgOp
createStructured(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::ValueRange inputs, mlir::Value init,
                 llvm::ArrayRef<mlir::AffineMap> maps,
                 llvm::ArrayRef<mlir::utils::IteratorType> iterators,
                 llvm::function_ref<void(mlir::OpBuilder &, mlir::Location,
                                         mlir::ValueRange)>
                     buildBody = nullptr);

/// What `compute` makes of the elements of `inputs`, one after the other, as
/// elements of `elementType` in a tensor of the shape, and the pattern, of
/// `like`; all have one shape.
mlir::Value createElementwise(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
    mlir::Value like, mlir::Type elementType,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                   mlir::ValueRange)>
        compute);

/// The type that sums of elements of `type`, a float, are accumulated in: f32
/// for f16 and bf16, `type` itself for others (semantics G11).
mlir::Type getAccumulationType(mlir::Type type);

/// `value`, a float or a tensor of floats, with elements of `elementType`:
/// extended, rounded, or as it is.
mlir::Value createFloatCast(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, mlir::Type elementType);

/// The tensor `value` as one of `type`, by a tensor.cast if that is another.
mlir::Value castTo(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Type type, mlir::Value value);

/// Whether the number `element` is one that a sparse tensor made of dense ones
/// stores: it is not zero. A NaN is stored, a negative zero is not.
mlir::Value createIsStored(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value element);

/// The elements of the tensor `value` in the storage of `like`: at its pattern,
/// or everywhere if it is dense.
mlir::Value createCopyLike(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value, mlir::Value like);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_STRUCTUREDBUILDERS_H
