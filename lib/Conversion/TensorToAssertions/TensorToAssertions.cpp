//===- TensorToAssertions.cpp - checks at run time --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/TensorToAssertions/TensorToAssertions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_TENSORTOASSERTIONS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// "file:line:column: op: detail", for the innermost location that names a
/// file.
static std::string makeMessage(Operation *op, StringRef detail) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  op->getLoc()->walk([&](Location loc) {
    auto file = dyn_cast<FileLineColLoc>(loc);
    if (!file)
      return WalkResult::advance();
    stream << file.getFilename().getValue() << ':' << file.getLine() << ':'
           << file.getColumn() << ": ";
    return WalkResult::interrupt();
  });
  stream << op->getName() << ": " << detail;
  return message;
}

/// Whether anything about `op` is open: an extent of an operand or result, or
/// an index.
static bool needsCheck(Operation *op) {
  if (!isa<RuntimeVerifiableOpInterface>(op) || isa<tensor::DimOp>(op))
    return false;
  bool hasTensor = false, isStatic = true;
  auto look = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      hasTensor = true;
      isStatic &= tensor.hasStaticShape();
    } else if (type.isIndex()) {
      isStatic = false;
    }
  };
  llvm::for_each(op->getOperandTypes(), look);
  llvm::for_each(op->getResultTypes(), look);
  return hasTensor && !isStatic;
}

namespace {
struct TensorToAssertionsPass
    : sparse_autograd::impl::TensorToAssertionsBase<TensorToAssertionsPass> {
  void runOnOperation() override {
    SmallVector<RuntimeVerifiableOpInterface> ops;
    getOperation()->walk([&](RuntimeVerifiableOpInterface op) {
      if (needsCheck(op))
        ops.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (RuntimeVerifiableOpInterface op : ops) {
      builder.setInsertionPoint(op);
      op.generateRuntimeVerification(builder, op.getLoc(), makeMessage);
    }
  }
};
} // namespace
