//===- AssertionMessage.cpp - what failed assertions say ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssertionMessage.h"

#include "mlir/IR/Operation.h"

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
