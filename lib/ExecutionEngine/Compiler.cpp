//===- Compiler.cpp - the LLVM dialect to machine code ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedCode.h"
#include "Exponential.h"
#include "GlueCode.h"
#include "HostCode.h"
#include "VectorLibrary.h"

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace sparse_autograd {
std::atomic<uint64_t> compilationCount{0};
} // namespace sparse_autograd

static Expected<std::unique_ptr<TargetMachine>>
createTargetMachine(const sparse_autograd::CompileOptions &options) {
  CodeGenOptLevel level =
      options.optimizationLevel >= 3   ? CodeGenOptLevel::Aggressive
      : options.optimizationLevel == 2 ? CodeGenOptLevel::Default
      : options.optimizationLevel == 1 ? CodeGenOptLevel::Less
                                       : CodeGenOptLevel::None;
  return sparse_autograd::createHostMachine(level, options.cpu,
                                            options.features);
}

/// What functions need to know of the machine for the optimizer to use it.
static void prepareFunctions(Module &module, const TargetMachine &machine) {
  for (Function &function : module) {
    StringRef name = function.getName();
    if (function.isDeclaration()) {
      if (name == "sparseAutogradRaise") {
        function.setDoesNotReturn();
        function.addFnAttr(Attribute::Cold);
      } else if (name == "sparseAutogradAllocate") {
        function.addRetAttr(Attribute::NoAlias);
        function.addRetAttr(Attribute::NonNull);
        function.addRetAttr(
            Attribute::getWithAlignment(module.getContext(), Align(64)));
      }
      continue;
    }
    // In place of what a function says of a target of its own: vectors are
    // passed in the same registers everywhere.
    function.removeFnAttr("min-legal-vector-width");
    function.removeFnAttr("prefer-vector-width");
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // Every function but an entry is this module's own.
    if (!name.starts_with("_sparse_autograd_entry_"))
      function.setLinkage(GlobalValue::InternalLinkage);
  }
}

static void optimize(Module &module, TargetMachine &machine,
                     const sparse_autograd::CompileOptions &options) {
  unsigned optimizationLevel = options.optimizationLevel;
  TargetLibraryInfoImpl library(module.getTargetTriple());
  if (options.vectorLibrary == sparse_autograd::VectorLibrary::Libmvec &&
      sparse_autograd::hasVectorLibrary())
    sparse_autograd::addVectorLibrary(library, machine);

  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = optimizationLevel >= 2;
  tuning.LoopInterleaving = optimizationLevel >= 2;
  PassInstrumentationCallbacks callbacks;
  OptNoneInstrumentation skipGlueCode(/*DebugLogging=*/false);
  skipGlueCode.registerCallbacks(callbacks);
  PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  functions.registerPass([&] { return TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  OptimizationLevel level = optimizationLevel >= 3   ? OptimizationLevel::O3
                            : optimizationLevel == 2 ? OptimizationLevel::O2
                            : optimizationLevel == 1 ? OptimizationLevel::O1
                                                     : OptimizationLevel::O0;
  ModulePassManager passes = level == OptimizationLevel::O0
                                 ? builder.buildO0DefaultPipeline(level)
                                 : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

Expected<std::unique_ptr<MemoryBuffer>>
sparse_autograd::compileToObject(mlir::ModuleOp module,
                                 const CompileOptions &options) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  Expected<std::unique_ptr<TargetMachine>> machine =
      createTargetMachine(options);
  if (!machine)
    return machine.takeError();

  LLVMContext context;
  std::string diagnostics;
  std::unique_ptr<Module> code;
  {
    mlir::ScopedDiagnosticHandler handler(
        module.getContext(), [&](mlir::Diagnostic &diagnostic) {
          diagnostics += "\n" + diagnostic.str();
        });
    code = mlir::translateModuleToLLVMIR(module, context, "sparse_autograd");
  }
  if (!code)
    return createStringError(
        "the module cannot be translated to LLVM IR; compile it "
        "with the pipeline sparse-autograd first" +
        diagnostics);
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  if (Error error = sparse_autograd::linkEmulatedCode(module, *code,
                                                      options.countsKernels))
    return std::move(error);
  prepareFunctions(*code, **machine);
  sparse_autograd::expandExponentials(*code, **machine);
  if (options.optimizationLevel > 0)
    sparse_autograd::leaveGlueCode(*code);
  optimize(*code, **machine, options);
  if (Error error = sparse_autograd::verifyVectorCalls(*code, **machine))
    return std::move(error);
  if (options.optimizedIR)
    raw_string_ostream(*options.optimizedIR) << *code;

  auto object =
      sparse_autograd::emitObject(*code, **machine, "sparse_autograd.o");
  if (object)
    ++compilationCount;
  return object;
}
