//===- Assertions.cpp - assertions of ops ---------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assertions.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;

std::string sparse_autograd::makeAssertionMessage(Operation *op,
                                                  const Twine &detail) {
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

bool sparse_autograd::hasOpenTypes(Operation *op) {
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

bool sparse_autograd::needsVerification(Operation *op) {
  return isa<RuntimeVerifiableOpInterface>(op) && !isa<tensor::DimOp>(op) &&
         hasOpenTypes(op);
}

void sparse_autograd::assertVerified(Operation *op,
                                     OpBuilder::Listener *listener) {
  OpBuilder builder(op, listener);
  cast<RuntimeVerifiableOpInterface>(op).generateRuntimeVerification(
      builder, op->getLoc(), [](Operation *verified, StringRef detail) {
        return makeAssertionMessage(verified, detail);
      });
}

bool sparse_autograd::isInStructuredRegion(Operation *op) {
  return static_cast<bool>(op->getParentOfType<linalg::LinalgOp>());
}
