//===- Rules.h - the derivative rules of MLIR's dialects --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// External models of LinearizableOpInterface, one function a dialect. A model
// is attached when its dialect is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_RULES_H
#define SPARSEAUTOGRAD_DIFFERENTIATE_RULES_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallVector.h"

namespace sparse_autograd {

struct ScalarRule;

void registerArithDerivativeRules(mlir::DialectRegistry &registry);
void registerControlFlowDerivativeRules(mlir::DialectRegistry &registry);
void registerLinalgDerivativeRules(mlir::DialectRegistry &registry);
void registerMathDerivativeRules(mlir::DialectRegistry &registry);
void registerSparseAutogradDerivativeRules(mlir::DialectRegistry &registry);
void registerSparseTensorDerivativeRules(mlir::DialectRegistry &registry);
void registerTensorDerivativeRules(mlir::DialectRegistry &registry);

/// All of the above.
void registerDerivativeRules(mlir::DialectRegistry &registry);

/// The records of the ops of a dialect, for documentation and tests. They live
/// as long as the program.
llvm::SmallVector<const ScalarRule *> listArithScalarRules();
llvm::SmallVector<const ScalarRule *> listMathScalarRules();

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_RULES_H
