//===- Executable.cpp - compiled code of the C interface ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd-c/Executable.h"
#include "Library.h"
#include "Objects.h"
#include "Phases.h"
#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"
#include "SparseAutograd/JustInTime/JustInTime.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/raw_ostream.h"

using namespace sparse_autograd;
using namespace sparse_autograd::capi;

namespace {
/// What the manifest says of an entry.
struct EntryDescription {
  std::string name;
  int64_t arguments = 0, results = 0;
};
} // namespace

/// Either an engine or a library.
struct SparseAutogradExecutable {
  std::unique_ptr<ExecutionEngine> engine;
  std::unique_ptr<Library> library;
  std::string manifest;
  std::vector<EntryDescription> entries;
  bool isCached = false;

  void describe(const llvm::json::Object &object);
  const EntryDescription *find(llvm::StringRef name) const;
  /// Fails if there is no entry of this name.
  llvm::Expected<SparseAutogradEntry> lookup(llvm::StringRef name) const {
    return engine ? engine->lookup(name) : library->lookup(name);
  }
};

void SparseAutogradExecutable::describe(const llvm::json::Object &object) {
  llvm::raw_string_ostream(manifest)
      << llvm::json::Value(llvm::json::Object(object));
  const llvm::json::Array *list = object.getArray("entries");
  for (const llvm::json::Value &value : *list) {
    const llvm::json::Object &entry = *value.getAsObject();
    entries.push_back({entry.getString("name")->str(),
                       int64_t(entry.getArray("arguments")->size()),
                       int64_t(entry.getArray("results")->size())});
  }
}

const EntryDescription *
SparseAutogradExecutable::find(llvm::StringRef name) const {
  for (const EntryDescription &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

/// Whether a module is what the phase `target` gives.
static bool isLowered(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::LLVM::GlobalOp>(manifestSymbol) != nullptr;
}

/// Compiles `module`, a copy.
static int32_t compile(SparseAutogradModule &module,
                       const SparseAutogradCompileOptions &options,
                       SparseAutogradExecutable &executable,
                       SparseAutogradDiagnostics &list) {
  PipelineOptions pipeline;
  if (!parseOptions(options.pipeline, pipeline, list))
    return SPARSE_AUTOGRAD_INVALID_PROGRAM;
  if (pipeline.compileTo != Phase::Target) {
    list.addError("the option compile-to is for running the pipeline: what is "
                  "compiled goes through all phases");
    return SPARSE_AUTOGRAD_INVALID_PROGRAM;
  }
  auto fail = [&](llvm::Error error) -> int32_t {
    std::string message = toString(std::move(error));
    if (!list.hasError())
      list.addError(message);
    return SPARSE_AUTOGRAD_INVALID_PROGRAM;
  };
  if (llvm::Error error =
          selectThisMachine(pipeline, options.device ? options.device : ""))
    return fail(std::move(error));
  auto log = [&](const llvm::Twine &message) { list.addWarning(message); };
  std::optional<CodeCache> cache =
      CodeCache::open(options.cache ? options.cache : "off", log);
  EngineOptions engineOptions;
  engineOptions.optimizationLevel = options.optimizationLevel;
  engineOptions.cache = cache ? &*cache : nullptr;
  int32_t status = SPARSE_AUTOGRAD_SUCCESS;
  auto lower = [&]() -> llvm::Error {
    if (!isLowered(module.module))
      status = runPhases(module, pipeline, {options.handler, options.userData},
                         list);
    return status == SPARSE_AUTOGRAD_SUCCESS
               ? llvm::Error::success()
               : llvm::createStringError("the pipeline failed");
  };
  llvm::Expected<LoadedCode> code =
      loadCode(module.module, pipeline, engineOptions, lower, log);
  if (!code) {
    int32_t failed = fail(code.takeError());
    return status != SPARSE_AUTOGRAD_SUCCESS ? status : failed;
  }
  if (code->engine->getManifest().getArray("entries")->empty())
    return fail(llvm::createStringError(
        "the module has no public function to compile"));
  executable.engine = std::move(code->engine);
  executable.isCached = code->isCached;
  executable.describe(executable.engine->getManifest());
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t sparseAutogradModuleCompile(const SparseAutogradModule *module,
                                    const SparseAutogradCompileOptions *options,
                                    SparseAutogradExecutable **executable,
                                    SparseAutogradDiagnostics **diagnostics) {
  if (executable)
    *executable = nullptr;
  if (!module)
    return refuseNull(diagnostics, "module");
  if (!executable)
    return refuseNull(diagnostics, "executable");
  const SparseAutogradCompileOptions defaults =
      SPARSE_AUTOGRAD_COMPILE_OPTIONS_INIT;
  if (!options)
    options = &defaults;
  return guardChange(
      *module->shared, diagnostics,
      [&](SparseAutogradDiagnostics &list) -> int32_t {
        if (options->optimizationLevel < 0 || options->optimizationLevel > 3) {
          list.addError("the optimization level is 0 to 3, not " +
                        llvm::Twine(options->optimizationLevel));
          return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
        }
        mlir::ModuleOp original = module->module;
        SparseAutogradModule copy(
            module->shared, mlir::cast<mlir::ModuleOp>(original->clone()));
        auto made = std::make_unique<SparseAutogradExecutable>();
        int32_t status = compile(copy, *options, *made, list);
        if (status == SPARSE_AUTOGRAD_SUCCESS)
          *executable = made.release();
        return status;
      });
}

int32_t sparseAutogradExecutableLoad(const char *path,
                                     SparseAutogradExecutable **executable,
                                     SparseAutogradDiagnostics **diagnostics) {
  if (executable)
    *executable = nullptr;
  if (!path)
    return refuseNull(diagnostics, "path");
  if (!executable)
    return refuseNull(diagnostics, "executable");
  return guard(diagnostics, [&](SparseAutogradDiagnostics &list) -> int32_t {
    auto library = Library::open(path);
    if (!library) {
      list.addError(toString(library.takeError()));
      return SPARSE_AUTOGRAD_NOT_FOUND;
    }
    auto made = std::make_unique<SparseAutogradExecutable>();
    made->library = std::move(*library);
    made->describe(made->library->getManifest());
    *executable = made.release();
    return SPARSE_AUTOGRAD_SUCCESS;
  });
}

void sparseAutogradExecutableDestroy(SparseAutogradExecutable *executable) {
  delete executable;
}

const char *
sparseAutogradExecutableManifest(const SparseAutogradExecutable *executable) {
  return executable ? executable->manifest.c_str() : nullptr;
}

int64_t
sparseAutogradExecutableEntryCount(const SparseAutogradExecutable *executable) {
  return executable ? int64_t(executable->entries.size()) : 0;
}

const char *
sparseAutogradExecutableEntryName(const SparseAutogradExecutable *executable,
                                  int64_t index) {
  if (index < 0 || index >= sparseAutogradExecutableEntryCount(executable))
    return nullptr;
  return executable->entries[index].name.c_str();
}

int32_t
sparseAutogradExecutableLookup(const SparseAutogradExecutable *executable,
                               const char *name, SparseAutogradEntry *entry,
                               SparseAutogradDiagnostics **diagnostics) {
  if (entry)
    *entry = nullptr;
  if (!executable)
    return refuseNull(diagnostics, "executable");
  if (!name)
    return refuseNull(diagnostics, "name");
  if (!entry)
    return refuseNull(diagnostics, "entry");
  return guard(diagnostics, [&](SparseAutogradDiagnostics &list) -> int32_t {
    llvm::Expected<SparseAutogradEntry> found = executable->lookup(name);
    if (!found) {
      list.addError(toString(found.takeError()));
      return SPARSE_AUTOGRAD_NOT_FOUND;
    }
    *entry = *found;
    return SPARSE_AUTOGRAD_SUCCESS;
  });
}

/// Says that a caller gives other numbers of pointers than an entry takes.
static bool areCounts(const EntryDescription &entry, int64_t arguments,
                      int64_t results, SparseAutogradDiagnostics &list) {
  if (entry.arguments == arguments && entry.results == results)
    return true;
  list.addError("'" + llvm::Twine(entry.name) + "' takes " +
                llvm::Twine(entry.arguments) + " arguments and returns " +
                llvm::Twine(entry.results) + " results; the call gives " +
                llvm::Twine(arguments) + " and has places for " +
                llvm::Twine(results));
  return false;
}

int32_t
sparseAutogradExecutableCallAs(const SparseAutogradExecutable *executable,
                               const char *name, const SparseAutogradCall *call,
                               SparseAutogradDiagnostics **diagnostics) {
  if (!executable)
    return refuseNull(diagnostics, "executable");
  if (!name)
    return refuseNull(diagnostics, "name");
  if (!call)
    return refuseNull(diagnostics, "call");
  if (!call->arguments && call->argumentCount != 0)
    return refuseNull(diagnostics, "arguments");
  if (!call->results && call->resultCount != 0)
    return refuseNull(diagnostics, "results");
  SparseAutogradEntry entry;
  if (int32_t status =
          sparseAutogradExecutableLookup(executable, name, &entry, diagnostics))
    return status;
  return guard(diagnostics, [&](SparseAutogradDiagnostics &list) -> int32_t {
    if (!areCounts(*executable->find(name), call->argumentCount,
                   call->resultCount, list))
      return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
    // An entry of nothing takes pointers to nothing, which are not null.
    void *none = nullptr;
    SparseAutogradCall complete = *call;
    if (!complete.arguments)
      complete.arguments = &none;
    if (!complete.results)
      complete.results = &none;
    int32_t status = sparseAutogradCall(entry, &complete);
    if (status != SPARSE_AUTOGRAD_SUCCESS)
      list.addError(sparseAutogradLastError());
    return status;
  });
}

int32_t sparseAutogradExecutableCall(const SparseAutogradExecutable *executable,
                                     const char *name, void *const *arguments,
                                     int64_t argumentCount,
                                     void *const *results, int64_t resultCount,
                                     SparseAutogradDiagnostics **diagnostics) {
  const SparseAutogradCall call = {argumentCount, resultCount, arguments,
                                   results,       nullptr,     nullptr};
  return sparseAutogradExecutableCallAs(executable, name, &call, diagnostics);
}

uint64_t sparseAutogradCompilationCount() {
  return ExecutionEngine::getCompilationCount();
}

uint64_t sparseAutogradCacheHitCount() { return getCacheHitCount(); }

int32_t
sparseAutogradExecutableIsCached(const SparseAutogradExecutable *executable) {
  return executable && executable->isCached;
}
