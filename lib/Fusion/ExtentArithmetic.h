//===- ExtentArithmetic.h - arithmetic on extents ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_FUSION_EXTENTARITHMETIC_H
#define SPARSEAUTOGRAD_FUSION_EXTENTARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace sparse_autograd {

/// Arithmetic on extents, which are not negative: what is static is folded, and
/// stays an attribute.
class ExtentArithmetic {
public:
  using Extent = mlir::OpFoldResult;

  ExtentArithmetic(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  Extent constant(int64_t value) { return builder.getIndexAttr(value); }
  /// An extent of a tensor.
  Extent sizeOf(mlir::Value tensor, int64_t dim) {
    return mlir::tensor::getMixedSize(builder, loc, tensor, dim);
  }

  Extent add(Extent a, Extent b) { return create<mlir::arith::AddIOp>(a, b); }
  /// `b` is at most `a`.
  Extent sub(Extent a, Extent b) { return create<mlir::arith::SubIOp>(a, b); }
  Extent mul(Extent a, Extent b) { return create<mlir::arith::MulIOp>(a, b); }
  /// `b` is not zero, here and below.
  Extent div(Extent a, Extent b) { return create<mlir::arith::DivUIOp>(a, b); }
  Extent rem(Extent a, Extent b) { return create<mlir::arith::RemUIOp>(a, b); }
  Extent ceilDiv(Extent a, Extent b) {
    return div(add(a, sub(b, constant(1))), b);
  }
  Extent min(Extent a, Extent b) { return create<mlir::arith::MinUIOp>(a, b); }
  Extent max(Extent a, Extent b) { return create<mlir::arith::MaxUIOp>(a, b); }

private:
  template <typename Op>
  Extent create(Extent a, Extent b) {
    auto toValue = [&](Extent extent) {
      return mlir::getValueOrCreateConstantIndexOp(builder, loc, extent);
    };
    return mlir::getAsOpFoldResult(
        builder.createOrFold<Op>(loc, toValue(a), toValue(b)));
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_FUSION_EXTENTARITHMETIC_H
