//===- Assertions.cpp - assertions of ops ---------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assertions.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;

static constexpr StringLiteral uncheckedName =
    sparse_autograd::SparseAutogradDialect::getUncheckedAttrName();

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

void sparse_autograd::assertVerified(Operation *op) {
  OpBuilder builder(op);
  cast<RuntimeVerifiableOpInterface>(op).generateRuntimeVerification(
      builder, op->getLoc(), [](Operation *verified, StringRef detail) {
        return makeAssertionMessage(verified, detail);
      });
}

void sparse_autograd::markUnchecked(Operation *op) {
  op->setDiscardableAttr(uncheckedName, UnitAttr::get(op->getContext()));
}

bool sparse_autograd::takeUncheckedMark(Operation *op) {
  return static_cast<bool>(op->removeDiscardableAttr(uncheckedName));
}
