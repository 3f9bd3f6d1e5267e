//===- ScalarBuilder.h - floating point formulas as ops ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_SCALARBUILDER_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace sparse_autograd {

/// Builds scalar ops at one place with one set of fastmath flags, so that the
/// formulas in this folder read as formulas.
///
/// The flags nnan and ninf are dropped: what is not selected may hold a NaN,
/// and the identity of a maximum is an infinity, whatever is promised of the
/// selected elements.
class ScalarBuilder {
public:
  ScalarBuilder(
      mlir::OpBuilder &builder, mlir::Location loc,
      mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::none)
      : builder(loc, builder),
        flags(flags & ~(mlir::arith::FastMathFlags::nnan |
                        mlir::arith::FastMathFlags::ninf)) {}

  mlir::Value add(mlir::Value lhs, mlir::Value rhs) {
    return binary<mlir::arith::AddFOp>(lhs, rhs);
  }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) {
    return binary<mlir::arith::SubFOp>(lhs, rhs);
  }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) {
    return binary<mlir::arith::MulFOp>(lhs, rhs);
  }
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) {
    return binary<mlir::arith::DivFOp>(lhs, rhs);
  }
  /// The maximum and the minimum in which a NaN wins.
  mlir::Value maximum(mlir::Value lhs, mlir::Value rhs) {
    return binary<mlir::arith::MaximumFOp>(lhs, rhs);
  }
  mlir::Value minimum(mlir::Value lhs, mlir::Value rhs) {
    return binary<mlir::arith::MinimumFOp>(lhs, rhs);
  }
  mlir::Value exp(mlir::Value x) { return unary<mlir::math::ExpOp>(x); }
  mlir::Value log(mlir::Value x) { return unary<mlir::math::LogOp>(x); }
  mlir::Value sqrt(mlir::Value x) { return unary<mlir::math::SqrtOp>(x); }
  mlir::Value abs(mlir::Value x) { return unary<mlir::math::AbsFOp>(x); }

  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value lhs,
                      mlir::Value rhs) {
    return mlir::arith::CmpFOp::create(builder, predicate, lhs, rhs);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
                      mlir::Value rhs) {
    return mlir::arith::CmpIOp::create(builder, predicate, lhs, rhs);
  }
  /// `condition ? chosen : otherwise`; a null condition is true.
  mlir::Value select(mlir::Value condition, mlir::Value chosen,
                     mlir::Value otherwise) {
    if (!condition)
      return chosen;
    return mlir::arith::SelectOp::create(builder, condition, chosen, otherwise);
  }

  mlir::Value constant(mlir::TypedAttr value) {
    return mlir::arith::ConstantOp::create(builder, value);
  }
  /// `value`, rounded to the type of `like` where that is narrower than f64.
  mlir::Value constant(double value, mlir::Type type) {
    return constant(builder.getFloatAttr(type, value));
  }
  mlir::Value i64(int64_t value) {
    return constant(builder.getI64IntegerAttr(value));
  }

  /// `x` in the float type `type`: extended, rounded, or as it is.
  mlir::Value convert(mlir::Value x, mlir::Type type) {
    unsigned from = x.getType().getIntOrFloatBitWidth();
    unsigned to = type.getIntOrFloatBitWidth();
    if (x.getType() == type)
      return x;
    if (from < to)
      return mlir::arith::ExtFOp::create(builder, type, x);
    return mlir::arith::TruncFOp::create(builder, type, x);
  }
  /// The signed integer `x`, rounded to the float type `type`.
  mlir::Value toFloat(mlir::Value x, mlir::Type type) {
    return mlir::arith::SIToFPOp::create(builder, type, x);
  }

  mlir::ImplicitLocOpBuilder &getBuilder() { return builder; }

private:
  template <typename OpTy>
  mlir::Value binary(mlir::Value lhs, mlir::Value rhs) {
    return OpTy::create(builder, lhs, rhs, flags);
  }
  template <typename OpTy>
  mlir::Value unary(mlir::Value x) {
    return OpTy::create(builder, x, flags);
  }

  mlir::ImplicitLocOpBuilder builder;
  mlir::arith::FastMathFlags flags;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_SCALARBUILDER_H
