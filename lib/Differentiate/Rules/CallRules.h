//===- CallRules.h - calls with a derivative of their own -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_CALLRULES_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_CALLRULES_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace sparse_autograd {

/// Attaches the rules of custom_vjp, checkpoint and barrier, and of the calls
/// of derivatives that their tangents are made of.
void attachCallRules(mlir::MLIRContext &context);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_CALLRULES_H
