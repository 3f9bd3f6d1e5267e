//===- AssertionMessage.h - what failed assertions say ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_ASSERTIONMESSAGE_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_ASSERTIONMESSAGE_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// "file:line:column: op: detail", for the innermost location of `op` that
/// names a file.
std::string makeAssertionMessage(mlir::Operation *op,
                                 const llvm::Twine &detail);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_ASSERTIONMESSAGE_H
