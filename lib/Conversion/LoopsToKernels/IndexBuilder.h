//===- IndexBuilder.h - arithmetic of indices -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_INDEXBUILDER_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_INDEXBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace sparse_autograd {

/// Builds arithmetic of indices.
struct IndexBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  mlir::Value constant(int64_t value) const {
    return mlir::arith::ConstantIndexOp::create(builder, loc, value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) const {
    return mlir::arith::AddIOp::create(builder, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, int64_t b) const {
    return mlir::arith::MulIOp::create(builder, loc, a, constant(b));
  }
  mlir::Value div(mlir::Value a, int64_t b) const {
    return mlir::arith::DivUIOp::create(builder, loc, a, constant(b));
  }
  mlir::Value rem(mlir::Value a, int64_t b) const {
    return mlir::arith::RemUIOp::create(builder, loc, a, constant(b));
  }
  mlir::Value ceilDiv(mlir::Value a, int64_t b) const {
    return mlir::arith::CeilDivUIOp::create(builder, loc, a, constant(b));
  }
  mlir::Value isLess(mlir::Value a, mlir::Value b) const {
    return mlir::arith::CmpIOp::create(builder, loc,
                                       mlir::arith::CmpIPredicate::ult, a, b);
  }
  /// An i32 instead, of which a division takes less long, and back.
  mlir::Value narrow(mlir::Value a) const {
    return mlir::arith::IndexCastUIOp::create(builder, loc,
                                              builder.getI32Type(), a);
  }
  mlir::Value widen(mlir::Value a) const {
    return mlir::arith::IndexCastUIOp::create(builder, loc,
                                              builder.getIndexType(), a);
  }
  /// The row and the column of block `number` of less than 2^31, of which
  /// `across` are in a row.
  std::pair<mlir::Value, mlir::Value> getPlace(mlir::Value number,
                                               mlir::Value across) const {
    mlir::Value block = narrow(number), ofRow = narrow(across);
    mlir::Value row =
        widen(mlir::arith::DivUIOp::create(builder, loc, block, ofRow));
    return {row,
            widen(mlir::arith::RemUIOp::create(builder, loc, block, ofRow))};
  }
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_INDEXBUILDER_H
