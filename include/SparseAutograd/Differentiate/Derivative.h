//===- Derivative.h - build the derivative of a function --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_DERIVATIVE_H
#define SPARSEAUTOGRAD_DIFFERENTIATE_DERIVATIVE_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// Which derivative of a function.
enum class DerivativeMode {
  /// Results, then gradients of the first result.
  ValueAndGrad,
  /// Takes a cotangent for each floating result; results, then
  /// vector-Jacobian products.
  Vjp,
  /// The same without the results: what a linear_transpose calls.
  Transpose,
  /// Takes a tangent for each argument of `wrt`; results, then the tangents of
  /// the floating results.
  Jvp
};

/// What is asked of a derivative.
struct DerivativeRequest {
  DerivativeMode mode;
  /// The arguments to differentiate by.
  llvm::SmallVector<int64_t> wrt;
  /// The types of their tangents, or of their gradients: the argument's own, or
  /// for a gradient the same shape in another format. A dense gradient of a
  /// sparse argument has elements where the argument stores none; a row-sparse
  /// one of a dense argument stores the rows that the function gathers.
  llvm::SmallVector<mlir::Type> tangents;
  /// For Vjp and Transpose the types of the cotangents: those of the floating
  /// results; for a sparse one perhaps a dense tensor, which is read at its
  /// pattern.
  llvm::SmallVector<mlir::Type> cotangents;

  bool operator<(const DerivativeRequest &other) const;
};

/// Gives a function that computes what a linear_transpose does: it takes the
/// arguments of the callee and the cotangents, and its results are those of the
/// op. Null where there is none: the callee has no rules, or is not linear.
using TransposeProvider =
    llvm::function_ref<mlir::func::FuncOp(LinearTransposeOp)>;

/// Builds the derivative of `function` as a private function, inserts it into
/// the module after `function` and returns it, with the attribute
/// `sparse_autograd.derivative_of`. The callee's results come first. `function`
/// is not changed; it must not contain derivative ops, nor must what it calls.
/// `getTranspose` is asked for the tangents of custom_vjp ops in reverse mode.
/// The name depends on the symbol and the request alone; a name that is taken
/// gets a suffix.
///
/// Fails, with a diagnostic at the op concerned, for an op on the active path
/// without a rule (semantics G7), for one that would make a gradient dense that
/// is to be row-sparse, and for the programs of semantics G13.
llvm::FailureOr<mlir::func::FuncOp>
buildDerivative(mlir::func::FuncOp function, const DerivativeRequest &request,
                mlir::SymbolTable &symbolTable, TransposeProvider getTranspose);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_DERIVATIVE_H
