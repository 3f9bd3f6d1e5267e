//===- Program.cpp - a program of a unit test, compiled -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Apart from its header: the passes of MLIR take the compiler 20 s to read, and
// one file of the tests needs them.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

Program::Program(llvm::StringRef source, llvm::StringRef passes,
                 llvm::StringRef features) {
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  module = mlir::parseSourceString<mlir::ModuleOp>(
      source, mlir::ParserConfig(&context), "program.mlir");
  if (!module) {
    error = "does not parse";
    return;
  }
  if (!passes.empty()) {
    sparse_autograd::registerAllPasses();
    mlir::registerReconcileUnrealizedCastsPass();
    mlir::PassManager pm(&context);
    if (failed(mlir::parsePassPipeline(passes, pm)) ||
        failed(pm.run(*module))) {
      error = "the passes fail";
      return;
    }
  } else if (auto problem = sparse_autograd::runPipeline(*module)) {
    error = llvm::toString(std::move(problem));
    return;
  }
  sparse_autograd::CompileOptions compileOptions;
  compileOptions.features = features.str();
  compileOptions.optimizedIR = &optimizedIR;
  auto created =
      sparse_autograd::ExecutionEngine::create(*module, compileOptions);
  if (created)
    engine = std::move(*created);
  else
    error = llvm::toString(created.takeError());
}

int32_t Program::call(llvm::StringRef name, std::vector<void *> arguments,
                      std::vector<void *> results) {
  auto entry = engine->lookup(name);
  if (!entry) {
    error = llvm::toString(entry.takeError());
    return -1;
  }
  return (*entry)(arguments.data(), results.data());
}
