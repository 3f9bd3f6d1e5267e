//===- Lanes.h - lanes of a vectorized dense loop ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vectors of consecutive iterations of one dense loop, and the strips that the
// iterations of such a loop are cut into. Used by the loops of a kernel
// (SparseLoops) and by what is computed in them (KernelBody). Tensors are dense
// and the loop is their last dimension, so that the elements of a vector are
// consecutive in memory.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LANES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LANES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sparse_autograd {

/// Consecutive iterations of a dense loop, one in each lane of a vector.
struct Lanes {
  /// The loop whose iterations they are.
  unsigned loop;
  int64_t count;
  /// Which lanes are iterations, a vector of i1; null if all are.
  mlir::Value mask = {};

  mlir::VectorType getType(mlir::Type element) const {
    return mlir::VectorType::get(count, element);
  }
  /// `value`, a scalar or a vector, as a vector.
  mlir::Value broadcast(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value) const;
  /// The elements of `tensor` from `place` on along the last dimension; zeros
  /// in lanes that are masked.
  mlir::Value load(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value tensor, mlir::ValueRange place) const;
  /// `tensor` with `vector` from `place` on, in the lanes that are not masked.
  mlir::Value store(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value vector, mlir::Value tensor,
                    mlir::ValueRange place) const;
};

/// A part of the iterations of a dense loop: those of `lanes` from `index` on.
/// Carries values, and returns what is carried on.
using StripBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    const Lanes &lanes, mlir::Value index, mlir::ValueRange carried)>;

/// Cuts the iterations 0 to `extent` of dense loop `loop` into strips of
/// `count` lanes, and the remainder into one narrower strip if `extent` is
/// constant, else into strips of `tail` lanes, the last one masked.
llvm::SmallVector<mlir::Value>
buildStrips(mlir::OpBuilder &builder, mlir::Location loc, unsigned loop,
            mlir::Value extent, int64_t count, int64_t tail,
            mlir::ValueRange carried, StripBody body);

/// Sums over the iterations 0 to `extent` of dense loop `loop`: `body` adds the
/// terms of a strip to the vectors that it is given. Returns `sums`, scalars,
/// with those terms added. The lanes of strips are added first, then those of
/// one vector of `tail` lanes in a tree: an order that the extent alone
/// decides.
llvm::SmallVector<mlir::Value> buildSums(mlir::OpBuilder &builder,
                                         mlir::Location loc, unsigned loop,
                                         mlir::Value extent, int64_t count,
                                         int64_t tail, mlir::ValueRange sums,
                                         StripBody body);

/// The identity of addition, in all lanes: -0 of floats, which keeps the sign
/// of a zero that is added.
mlir::Value createNoTerms(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::VectorType type);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_LANES_H
