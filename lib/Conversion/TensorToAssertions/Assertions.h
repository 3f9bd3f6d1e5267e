//===- Assertions.h - assertions of ops -------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_ASSERTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_ASSERTIONS_H

#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// "file:line:column: op: detail", for the innermost location of `op` that
/// names a file.
std::string makeAssertionMessage(mlir::Operation *op,
                                 const llvm::Twine &detail);

/// Asserts, before `op`, what its runtime verification of MLIR's own says. The
/// op implements RuntimeVerifiableOpInterface.
void assertVerified(mlir::Operation *op);

/// Says that `op`, in the region of a structured op, is to be checked once
/// regions of ops on sparse tensors are in loops: there it is not executed for
/// every element, and what nothing reads is not taken over.
void markUnchecked(mlir::Operation *op);

/// Whether `op` has the mark, which it then loses.
bool takeUncheckedMark(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_TENSORTOASSERTIONS_ASSERTIONS_H
