//===- Assertions.h - assertions of ops -------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_ASSERTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_ASSERTIONS_H

#include "mlir/IR/Builders.h"

namespace sparse_autograd {

/// "file:line:column: op: detail", for the innermost location of `op` that
/// names a file.
std::string makeAssertionMessage(mlir::Operation *op,
                                 const llvm::Twine &detail);

/// Whether a type of `op`, which has tensors, leaves an extent or an index
/// open.
bool hasOpenTypes(mlir::Operation *op);

/// Whether `op` implements RuntimeVerifiableOpInterface, on tensors, and its
/// types leave open what that checks.
bool needsVerification(mlir::Operation *op);

/// Asserts, before `op`, what its runtime verification of MLIR's own says. The
/// op implements RuntimeVerifiableOpInterface. A conversion passes the listener
/// of its rewriter.
void assertVerified(mlir::Operation *op,
                    mlir::OpBuilder::Listener *listener = nullptr);

/// Whether `op` stands in the region of a structured op. Such a region may
/// become, by fusion, part of an op on sparse tensors, whose loops do not
/// execute `op` for every element: what needs verification there is checked
/// where it is executed, by lower-sparse in the loops that it builds
/// (`Kernel`), by sparse-autograd-scalars-to-assertions in the regions that are
/// left.
bool isInStructuredRegion(mlir::Operation *op);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_ASSERTIONS_H
