//===- Derivative.h - build the derivative of a function --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_DERIVATIVE_H
#define SPARSEAUTOGRAD_DIFFERENTIATE_DERIVATIVE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Which derivative of a function.
enum class DerivativeMode {
  /// Results, then gradients of the first result.
  ValueAndGrad,
  /// Takes a cotangent for each floating result; results, then
  /// vector-Jacobian products.
  Vjp,
  /// Takes a tangent for each argument of `wrt`; results, then the tangents of
  /// the floating results.
  Jvp
};

/// Builds the derivative of `function` with respect to its arguments `wrt`
/// as a private function, inserts it into the module behind `function` and
/// returns it. The callee's results come first. `function` is not changed; it
/// must not contain derivative ops, nor must what it calls. The name depends on
/// (symbol, mode, wrt) alone; a name that is taken gets a suffix.
///
/// Fails, with a diagnostic at the op concerned, for an op on the active path
/// without a rule (semantics G7) and for the programs of semantics G13.
llvm::FailureOr<mlir::func::FuncOp>
buildDerivative(mlir::func::FuncOp function, DerivativeMode mode,
                llvm::ArrayRef<int64_t> wrt, mlir::SymbolTable &symbolTable);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_DERIVATIVE_H
