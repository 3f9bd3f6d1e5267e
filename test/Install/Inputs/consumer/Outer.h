//===- Outer.h - a dialect outside the tree ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef OUTER_H
#define OUTER_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

#include "OuterDialect.h.inc"
#define GET_OP_CLASSES
#include "OuterOps.h.inc"

namespace outer {

/// Registers the dialect and attaches the derivatives of its ops.
void registerDialect(mlir::DialectRegistry &registry);

/// Lowers the ops of the dialect to linalg.
std::unique_ptr<mlir::Pass> createLowerToLinalg();

} // namespace outer

#endif // OUTER_H
