//===- ArgumentChecks.h - checks of a call of an entry ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checks that the body of an entry begins with, as operations. What fails
// raises SPARSE_AUTOGRAD_INVALID_ARGUMENT, before anything is read through a
// pointer that may be wrong. That an array is as long as its descriptor says
// nobody can check.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_ARGUMENTCHECKS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_ARGUMENTCHECKS_H

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sparse_autograd {

/// The size in memory of a number of type `type`, and its alignment.
int64_t getElementBytes(mlir::Type type);

/// Builds checks at the insertion point of a builder.
class ArgumentChecks {
public:
  ArgumentChecks(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  void require(mlir::Value condition, const llvm::Twine &message);

  /// `pointer` is not null, and aligned to `alignment` bytes. `what` begins the
  /// message: "argument 'x': the pointer to it". `isUnused` is true where the
  /// pointer does not count; it may be null, for false.
  void requirePointer(mlir::Value pointer, int64_t alignment,
                      const llvm::Twine &what, mlir::Value isUnused = {});

  /// The extents of the tensor that `given` describes: they are those of `type`
  /// where it has them, none is negative, and all elements together can be
  /// addressed. `isEmpty` becomes whether there are none; null for false.
  llvm::SmallVector<mlir::Value> requireExtents(mlir::MemRefDescriptor given,
                                                mlir::MemRefType type,
                                                llvm::StringRef name,
                                                mlir::Value &isEmpty);

  /// Whether a tensor of these extents is dense in row-major order; null for
  /// true. `strides` become those of such a tensor.
  mlir::Value haveDenseStrides(mlir::MemRefDescriptor given,
                               llvm::ArrayRef<mlir::Value> extents,
                               mlir::Value isEmpty,
                               llvm::SmallVectorImpl<mlir::Value> &strides);

private:
  mlir::Value constant(int64_t value);
  mlir::Value either(mlir::Value a, mlir::Value b);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_ARGUMENTCHECKS_H
