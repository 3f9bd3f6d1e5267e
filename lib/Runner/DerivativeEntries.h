//===- DerivativeEntries.h - entries for the derivatives of one -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNNER_DERIVATIVEENTRIES_H
#define SPARSEAUTOGRAD_LIB_RUNNER_DERIVATIVEENTRIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace sparse_autograd {

/// What was added to a module, and what is differentiated.
struct DerivativeEntries {
  std::string jvp, vjp;
  /// The positions of the floating arguments and results.
  llvm::SmallVector<size_t> arguments, results;
};

/// Adds two public functions behind `function`: both take its arguments; one
/// takes the tangents of the floating ones as well and returns those of the
/// floating results, the other takes the cotangents of the floating results and
/// returns those of the floating arguments.
///
/// Fails if there is nothing to differentiate.
llvm::Expected<DerivativeEntries>
addDerivativeEntries(mlir::func::FuncOp function);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNNER_DERIVATIVEENTRIES_H
