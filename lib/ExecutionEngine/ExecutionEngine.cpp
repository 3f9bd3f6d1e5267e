//===- ExecutionEngine.cpp - code in this process ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"

#include "HostCode.h"
#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"
#include "SparseAutograd/Conversion/LaunchToRuntime/LaunchToRuntime.h"
#include "SparseAutograd/Runtime/DeviceABI.h"
#include "VectorLibrary.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>

using namespace llvm;
using namespace sparse_autograd;

namespace sparse_autograd {
/// Counted where machine code is made (Compiler.cpp).
extern std::atomic<uint64_t> compilationCount;
} // namespace sparse_autograd

ExecutionEngine::ExecutionEngine() = default;
ExecutionEngine::~ExecutionEngine() {
  for (; images && *images; ++images)
    sparseAutogradUnloadImage(*images);
}

uint64_t ExecutionEngine::getCompilationCount() {
  return compilationCount.load();
}

Expected<std::unique_ptr<ExecutionEngine>>
ExecutionEngine::create(mlir::ModuleOp module, const CompileOptions &options) {
  Expected<std::unique_ptr<MemoryBuffer>> object =
      compileToObject(module, options);
  if (!object)
    return object.takeError();
  return load(std::move(*object));
}

Expected<std::unique_ptr<ExecutionEngine>>
ExecutionEngine::load(std::unique_ptr<MemoryBuffer> object) {
  auto jit = createClosedJIT();
  if (!jit)
    return jit.takeError();
  // The session says which symbols it could not resolve; the error of a lookup
  // only which ones could not be made of them.
  auto details = std::make_shared<std::string>();
  (*jit)->getExecutionSession().setErrorReporter(
      [details](Error error) { *details += toString(std::move(error)); });
  auto withDetails = [details](Error error) {
    std::string text = details->empty() ? std::string() : *details + "; ";
    return createStringError(inconvertibleErrorCode(),
                             "the code cannot be loaded: " + text +
                                 toString(std::move(error)));
  };
  if (hasVectorLibrary()) {
    auto vectors = orc::DynamicLibrarySearchGenerator::Load(
        vectorLibraryName, (*jit)->getDataLayout().getGlobalPrefix(),
        [](const orc::SymbolStringPtr &name) {
          return (*name).starts_with("_ZGV");
        });
    if (!vectors)
      return vectors.takeError();
    (*jit)->getMainJITDylib().addGenerator(std::move(*vectors));
  }
  if (Error error = (*jit)->addObjectFile(std::move(object)))
    return std::move(error);

  std::unique_ptr<ExecutionEngine> engine(new ExecutionEngine());
  auto text = (*jit)->lookup(manifestSymbol);
  if (!text)
    return withDetails(text.takeError());
  Expected<json::Value> manifest = json::parse(text->toPtr<const char *>());
  if (!manifest)
    return manifest.takeError();
  if (!manifest->getAsObject())
    return createStringError(inconvertibleErrorCode(),
                             "the manifest of the code is not an object");
  engine->manifest = std::move(*manifest->getAsObject());
  int64_t version = engine->manifest.getInteger("runtime_version").value_or(0);
  if (version != int64_t(sparseAutogradRuntimeVersion()))
    return createStringError(
        inconvertibleErrorCode(),
        "the code was compiled for version " + std::to_string(version) +
            " of the runtime, but this is version " +
            std::to_string(sparseAutogradRuntimeVersion()) +
            "; compile it again");
  engine->jit = std::move(*jit);
  if (auto images = engine->jit->lookup(imagesSymbol))
    engine->images = images->toPtr<const SparseAutogradImage *const *>();
  else
    consumeError(images.takeError()); // The code has no kernels.
  // Errors of symbols show now, not at the first call.
  if (const json::Array *entries = engine->manifest.getArray("entries"))
    for (const json::Value &value : *entries) {
      const json::Object *entry = value.getAsObject();
      if (!entry)
        continue;
      auto address =
          engine->jit->lookup(entry->getString("symbol").value_or(""));
      if (!address)
        return withDetails(address.takeError());
    }
  return engine;
}

Expected<SparseAutogradEntry> ExecutionEngine::lookup(StringRef name) const {
  std::string known;
  if (const json::Array *entries = manifest.getArray("entries"))
    for (const json::Value &value : *entries) {
      const json::Object *entry = value.getAsObject();
      if (!entry)
        continue;
      StringRef other = entry->getString("name").value_or("");
      if (other != name) {
        known += (known.empty() ? "" : ", ") + other.str();
        continue;
      }
      auto address = jit->lookup(entry->getString("symbol").value_or(""));
      if (!address)
        return address.takeError();
      return address->toPtr<SparseAutogradEntry>();
    }
  return createStringError(inconvertibleErrorCode(),
                           "there is no entry '" + name +
                               "'; there are: " + known);
}
