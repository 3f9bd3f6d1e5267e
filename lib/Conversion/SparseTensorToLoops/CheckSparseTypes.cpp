//===- CheckSparseTypes.cpp - types of sparse tensors ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckSparseTypes.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace sparse_autograd;

bool sparse_autograd::hasSparseType(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isSparse) ||
         llvm::any_of(op->getResultTypes(), isSparse);
}

static LogicalResult checkTypes(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    if (isa<sparse_tensor::SparseTensorDialect>(type.getDialect()))
      return op->emitOpError("has type ")
             << type
             << ", which is not lowered; write ops of linalg, arith and math "
                "on tensors with an encoding";
    return !isSparse(type) ? success()
                           : checkEncoding(cast<RankedTensorType>(type),
                                           [&]() { return op->emitOpError(); });
  };
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  if (auto function = dyn_cast<func::FuncOp>(op))
    for (Type type : llvm::concat<const Type>(function.getArgumentTypes(),
                                              function.getResultTypes()))
      if (failed(check(type)))
        return failure();
  return success();
}

LogicalResult sparse_autograd::checkSparseTypes(Operation *module) {
  return success(
      !module->walk([](Operation *op) { return WalkResult(checkTypes(op)); })
           .wasInterrupted());
}
