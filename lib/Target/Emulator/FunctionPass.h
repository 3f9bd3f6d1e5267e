//===- FunctionPass.h - LLVM function passes on a module --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function pass of LLVM on all functions of a module, with LLVM's analyses.
// Called by the translation to the emulator and by the code that counts.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_FUNCTIONPASS_H
#define SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_FUNCTIONPASS_H

#include "llvm/Passes/PassBuilder.h"

namespace sparse_autograd {
namespace emulator {

/// Runs a pass of type `Pass` on each function of `module` that has a body, for
/// `machine`, or for none.
template <typename Pass>
void runFunctionPass(llvm::Module &module,
                     llvm::TargetMachine *machine = nullptr) {
  llvm::PassBuilder builder(machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  Pass pass;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      pass.run(function, functions);
}

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_FUNCTIONPASS_H
