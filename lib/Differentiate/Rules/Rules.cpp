//===- Rules.cpp - the derivative rules of MLIR's dialects ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/Rules.h"

using namespace sparse_autograd;

void sparse_autograd::registerDerivativeRules(mlir::DialectRegistry &registry) {
  registerArithDerivativeRules(registry);
  registerControlFlowDerivativeRules(registry);
  registerLinalgDerivativeRules(registry);
  registerMathDerivativeRules(registry);
  registerSparseAutogradDerivativeRules(registry);
  registerSparseTensorDerivativeRules(registry);
  registerTensorDerivativeRules(registry);
}
