//===- DeviceProduct24.h - 2:4 products of a device -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_DEVICEPRODUCT24_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_DEVICEPRODUCT24_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// Chooses how a device computes a contraction one factor of which stores two
/// of each four elements: by `strategy`, one of SPARSE_AUTOGRAD_PRODUCT24_*,
/// and says so in a remark, with what a model predicts. The factor of one that
/// is dense is expanded here. Returns whether `lowerDeviceProduct24`
/// builds it; any other op is left to the generator of loops.
bool chooseDeviceProduct24(mlir::IRRewriter &rewriter,
                           mlir::linalg::LinalgOp op, int64_t strategy);

/// Builds a parallel loop over the elements of such a contraction, each of
/// which is an `inner_product`, and gives its result. `operands` are the
/// components of the operands.
mlir::Value lowerDeviceProduct24(mlir::OpBuilder &builder,
                                 mlir::linalg::LinalgOp op,
                                 llvm::ArrayRef<mlir::ValueRange> operands);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSETENSORTOLOOPS_DEVICEPRODUCT24_H
