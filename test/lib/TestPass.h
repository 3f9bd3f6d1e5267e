//===- TestPass.h - passes for tests alone -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that print an analysis, or apply one rewrite: a function and a name
// each. Called by the files of this folder, each of which registers its own;
// sparse-opt has them in a build with tests.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_LIB_TESTPASS_H
#define SPARSEAUTOGRAD_TEST_LIB_TESTPASS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd::test {

/// A pass `--test-sparse-autograd-<name>`.
struct TestPass {
  llvm::StringLiteral name, description;
  llvm::LogicalResult (*run)(mlir::ModuleOp module);
};

/// Registers `pass`, which lives as long as the process.
void registerTestPass(const TestPass &pass);

/// What tests call `value`: the string attribute `tag` of the op that computes
/// it, with the number of the result if it has several, or the number of an
/// argument. "?" if it has no tag.
std::string getName(mlir::Value value);

/// Calls `callback` with each op that has a `tag`, and what it is called.
void forEachTagged(
    mlir::Operation *root,
    llvm::function_ref<void(mlir::Operation *op, llvm::StringRef tag)>
        callback);

void registerAnalysisPasses();
void registerTransformsPasses();

} // namespace sparse_autograd::test

#endif // SPARSEAUTOGRAD_TEST_LIB_TESTPASS_H
