//===- ScalarInterpreter.h - evaluate scalar ops in f64 ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that the ops of arith and math stand for, by the C library:
// what the tests of derivative rules compare against, and evaluate the code of
// the rules with.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_DIFFERENTIATE_SCALARINTERPRETER_H
#define SPARSEAUTOGRAD_TEST_UNIT_DIFFERENTIATE_SCALARINTERPRETER_H

#include "mlir/IR/Operation.h"

#include <optional>

/// Evaluates the op named `name` at `arguments`; conditions and
/// integers are numbers too. Nothing if the op is not known. `Number` is double
/// or long double.
template <typename Number>
std::optional<llvm::SmallVector<Number>>
evaluateFunction(llvm::StringRef name, llvm::ArrayRef<Number> arguments);

/// Evaluates `op`, comparisons and constants included, on the values that
/// `values` holds, and adds its results. False if the op is not known.
bool evaluateOp(mlir::Operation &op,
                llvm::DenseMap<mlir::Value, double> &values);

#endif // SPARSEAUTOGRAD_TEST_UNIT_DIFFERENTIATE_SCALARINTERPRETER_H
