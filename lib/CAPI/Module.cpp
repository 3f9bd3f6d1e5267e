//===- Module.cpp - contexts and modules of the C interface ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd-c/Module.h"
#include "Objects.h"
#include "Phases.h"
#include "SparseAutograd/Registration.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace sparse_autograd;
using namespace sparse_autograd::capi;

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

static mlir::DialectRegistry makeRegistry() {
  // The registry of passes is the process's.
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerAllPasses();
    sparse_autograd::registerAllPasses();
  });
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  return registry;
}

SharedContext::SharedContext()
    : context(std::make_unique<mlir::MLIRContext>(makeRegistry())),
      process(getpid()) {
  // Diagnostics are data: whoever wants the op prints the module.
  context->printOpOnDiagnostic(false);
}

SharedContext::~SharedContext() {
  // Its destructor would wait for threads that a child process does not have.
  if (isInherited()) {
    [[maybe_unused]] mlir::MLIRContext *left = context.release();
  }
}

bool SharedContext::isInherited() const { return process != getpid(); }

int32_t sparseAutogradContextCreate(SparseAutogradContext **context) {
  if (!context)
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  *context = nullptr;
  return guard(nullptr, [&](SparseAutogradDiagnostics &) -> int32_t {
    *context = new SparseAutogradContext{std::make_shared<SharedContext>()};
    return SPARSE_AUTOGRAD_SUCCESS;
  });
}

void sparseAutogradContextDestroy(SparseAutogradContext *context) {
  delete context;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

SparseAutogradModule::~SparseAutogradModule() {
  std::lock_guard<std::recursive_mutex> lock(shared->mutex);
  if (isOwned)
    module.erase();
}

int32_t sparseAutogradModuleParse(SparseAutogradContext *context,
                                  const char *text, size_t length,
                                  const char *name,
                                  SparseAutogradModule **module,
                                  SparseAutogradDiagnostics **diagnostics) {
  if (module)
    *module = nullptr;
  if (!context)
    return refuseNull(diagnostics, "context");
  if (!text)
    return refuseNull(diagnostics, "text");
  if (!module)
    return refuseNull(diagnostics, "module");
  SharedContext &shared = *context->shared;
  return guardChange(
      shared, diagnostics, [&](SparseAutogradDiagnostics &list) -> int32_t {
        llvm::SourceMgr sources;
        sources.AddNewSourceBuffer(
            llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text, length),
                                                 name ? name : "<text>"),
            llvm::SMLoc());
        auto parsed =
            mlir::parseSourceFile<mlir::ModuleOp>(sources, &shared.get());
        if (!parsed) {
          if (!list.hasError())
            list.addError("the text could not be parsed");
          return SPARSE_AUTOGRAD_INVALID_PROGRAM;
        }
        *module = new SparseAutogradModule(context->shared, parsed.release());
        return SPARSE_AUTOGRAD_SUCCESS;
      });
}

int32_t sparseAutogradModuleClone(const SparseAutogradModule *module,
                                  SparseAutogradModule **copy) {
  if (copy)
    *copy = nullptr;
  if (!module || !copy)
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  return guardRead(*module->shared, [&]() -> int32_t {
    mlir::ModuleOp original = module->module;
    *copy = new SparseAutogradModule(
        module->shared, mlir::cast<mlir::ModuleOp>(original->clone()));
    return SPARSE_AUTOGRAD_SUCCESS;
  });
}

void sparseAutogradModuleDestroy(SparseAutogradModule *module) {
  if (module && module->isOwned)
    delete module;
}

int32_t sparseAutogradModulePrint(const SparseAutogradModule *module,
                                  uint32_t flags, char **text) {
  if (text)
    *text = nullptr;
  if (!module || !text ||
      (flags & ~uint32_t(SPARSE_AUTOGRAD_PRINT_LOCATIONS |
                         SPARSE_AUTOGRAD_PRINT_GENERIC)))
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  return guardRead(*module->shared, [&]() -> int32_t {
    mlir::OpPrintingFlags how;
    how.enableDebugInfo(flags & SPARSE_AUTOGRAD_PRINT_LOCATIONS);
    how.printGenericOpForm(flags & SPARSE_AUTOGRAD_PRINT_GENERIC);
    // The verifier would ask threads that are not there.
    if (module->shared->isInherited())
      how.assumeVerified();
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    mlir::ModuleOp(module->module)->print(stream, how);
    stream << "\n";
    *text = copyText(printed);
    return SPARSE_AUTOGRAD_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

int32_t sparseAutogradModuleRun(SparseAutogradModule *module,
                                const char *options,
                                SparseAutogradPhaseHandler handler,
                                void *userData,
                                SparseAutogradDiagnostics **diagnostics) {
  if (!module)
    return refuseNull(diagnostics, "module");
  return guardChange(
      *module->shared, diagnostics, [&](SparseAutogradDiagnostics &list) {
        PipelineOptions parsed;
        if (!parseOptions(options, parsed, list))
          return int32_t(SPARSE_AUTOGRAD_INVALID_PROGRAM);
        return runPhases(*module, parsed, {handler, userData}, list);
      });
}

int32_t sparseAutogradModuleRunPasses(SparseAutogradModule *module,
                                      const char *passes,
                                      SparseAutogradDiagnostics **diagnostics) {
  if (!module)
    return refuseNull(diagnostics, "module");
  if (!passes)
    return refuseNull(diagnostics, "passes");
  return guardChange(
      *module->shared, diagnostics,
      [&](SparseAutogradDiagnostics &list) -> int32_t {
        mlir::PassManager manager(&module->shared->get());
        llvm::StringRef text = llvm::StringRef(passes).trim();
        // Without the op that the passes are on it is a module.
        std::string anchored = text.str();
        if (!text.starts_with("builtin.module(") && !text.starts_with("any("))
          anchored = "builtin.module(" + anchored + ")";
        std::string problem;
        llvm::raw_string_ostream stream(problem);
        auto parsed = mlir::parsePassPipeline(anchored, stream);
        if (failed(parsed)) {
          // "MLIR Textual PassPipeline Parser:1:1: error: ...", then the text.
          llvm::StringRef reason = llvm::StringRef(problem).trim();
          if (size_t at = reason.find("error: "); at != llvm::StringRef::npos)
            reason = reason.drop_front(at + 7).split('\n').first;
          list.addError("the passes '" + text + "' cannot be run: " + reason);
          return SPARSE_AUTOGRAD_INVALID_PROGRAM;
        }
        static_cast<mlir::OpPassManager &>(manager) = std::move(*parsed);
        RunOf run(*module->shared);
        if (succeeded(manager.run(module->module)))
          return SPARSE_AUTOGRAD_SUCCESS;
        if (!list.hasError())
          list.addError("a pass failed");
        return SPARSE_AUTOGRAD_INVALID_PROGRAM;
      });
}
