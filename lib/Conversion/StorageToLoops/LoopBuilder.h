//===- LoopBuilder.h - loops on buffers of indices --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_LOOPBUILDER_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_LOOPBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace sparse_autograd {

/// The type of a list of elements, or of rows of `width` if that is not 0, of a
/// length that is not known.
mlir::MemRefType getBufferType(mlir::Type element, int64_t width = 0);

/// Builds arithmetic on indices and loops over buffers, so that the algorithms
/// in this folder read as such. Indices are without a sign: what a comparison
/// says of a negative one is that it is large.
class LoopBuilder {
public:
  LoopBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(loc, builder) {}

  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, value);
  }
  mlir::Value truth(bool value) {
    return mlir::arith::ConstantIntOp::create(builder, builder.getI1Type(),
                                              value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddIOp::create(builder, a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubIOp::create(builder, a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulIOp::create(builder, a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivUIOp::create(builder, a, b);
  }
  mlir::Value minimum(mlir::Value a, mlir::Value b) {
    return mlir::arith::MinUIOp::create(builder, a, b);
  }
  mlir::Value maximum(mlir::Value a, mlir::Value b) {
    return mlir::arith::MaxUIOp::create(builder, a, b);
  }
  mlir::Value bitAnd(mlir::Value a, mlir::Value b) {
    return mlir::arith::AndIOp::create(builder, a, b);
  }
  mlir::Value bitOr(mlir::Value a, mlir::Value b) {
    return mlir::arith::OrIOp::create(builder, a, b);
  }
  mlir::Value shiftLeft(mlir::Value a, mlir::Value b) {
    return mlir::arith::ShLIOp::create(builder, a, b);
  }
  /// How many times `length` elements are in `count`, the last time in part.
  mlir::Value countChunks(mlir::Value count, int64_t length) {
    return div(add(count, index(length - 1)), index(length));
  }

  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return mlir::arith::CmpIOp::create(builder, predicate, a, b);
  }
  mlir::Value equal(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpIPredicate::eq, a, b);
  }
  mlir::Value differ(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpIPredicate::ne, a, b);
  }
  mlir::Value less(mlir::Value a, mlir::Value b) {
    return compare(mlir::arith::CmpIPredicate::ult, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(builder, condition, a, b);
  }
  /// 1 or 0.
  mlir::Value toIndex(mlir::Value condition) {
    return select(condition, index(1), index(0));
  }
  /// Whether the numbers `a` are before `b` in lexicographic order; `ifEqual`
  /// if they are the same.
  mlir::Value precedes(mlir::ValueRange a, mlir::ValueRange b,
                       mlir::Value ifEqual);
  /// How many bits `number` takes.
  mlir::Value countBits(mlir::Value number);

  mlir::Value extent(mlir::Value buffer, int64_t dim) {
    return mlir::memref::DimOp::create(builder, buffer, dim);
  }
  mlir::Value load(mlir::Value buffer, mlir::ValueRange place) {
    return mlir::memref::LoadOp::create(builder, buffer, place);
  }
  /// The elements of a row of `width`.
  llvm::SmallVector<mlir::Value> loadRow(mlir::Value buffer, mlir::Value row,
                                         int64_t width);
  void store(mlir::Value value, mlir::Value buffer, mlir::ValueRange place) {
    mlir::memref::StoreOp::create(builder, value, buffer, place);
  }
  /// A buffer of indices: `length` rows of `width`, or a list if that is 0.
  mlir::Value allocate(mlir::Value length, int64_t width = 0);
  void deallocate(mlir::Value buffer) {
    mlir::memref::DeallocOp::create(builder, buffer);
  }
  /// The elements of the first row of a buffer of rows of `width`, which the
  /// host reads at once.
  llvm::SmallVector<mlir::Value> readFirstRow(mlir::Value buffer,
                                              int64_t width);

  /// Runs `body` for all indices below `ends`, in any order or at once.
  void forEach(mlir::ValueRange ends,
               llvm::function_ref<void(mlir::ValueRange)> body);
  /// Runs `body` from `begin` to `end`, one after the other; it gets and gives
  /// what is carried.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value begin, mlir::Value end, mlir::Value step,
       mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  /// Runs `body` with `number`, and what it gives, while that is more than
  /// `least`.
  void whileAbove(int64_t least, mlir::Value number,
                  llvm::function_ref<mlir::Value(mlir::Value)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> body,
            llvm::function_ref<void()> otherwise = nullptr);
  /// One of two numbers, of which only that one is computed.
  mlir::Value choose(mlir::Value condition,
                     llvm::function_ref<mlir::Value()> chosen,
                     llvm::function_ref<mlir::Value()> otherwise);
  /// See `createBinarySearch`.
  mlir::Value search(mlir::Value begin, mlir::Value end,
                     llvm::function_ref<mlir::Value(mlir::Value)> isBefore);

  mlir::ImplicitLocOpBuilder builder;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_LOOPBUILDER_H
