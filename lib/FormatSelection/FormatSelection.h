//===- FormatSelection.h - steps of the choice of formats -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_FORMATSELECTION_FORMATSELECTION_H
#define SPARSEAUTOGRAD_LIB_FORMATSELECTION_FORMATSELECTION_H

#include "CostModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace sparse_autograd {

/// When a tensor is worth to be stored as a sparse one.
struct SparsityLimits {
  double minSparsity;
  int64_t minNnz;
};

/// What a remark on `op` begins with.
mlir::remark::RemarkOpts getRemarkOptions(llvm::StringRef name,
                                          mlir::Operation *op);

/// The dimension that is outermost in `encoding`, as remarks call it.
std::string
describeOrder(mlir::sparse_tensor::SparseTensorEncodingAttr encoding);

/// Reads the tensors of `function` that are converted from dense ones, and are
/// small or full, as the dense ones that they are.
void keepSmallTensorsDense(mlir::func::FuncOp function,
                           const SparsityLimits &limits);

/// Chooses the formats of the arguments that leave them open, and takes their
/// `sparse_autograd.any_format` away. `function` is not called.
void chooseArgumentFormats(mlir::func::FuncOp function, const CostModel &costs);

/// Copies tensors to another order where reading that saves more.
void copyToOtherOrders(mlir::func::FuncOp function, const CostModel &costs);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_FORMATSELECTION_FORMATSELECTION_H
