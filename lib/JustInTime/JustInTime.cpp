//===- JustInTime.cpp - code for this process -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/JustInTime/JustInTime.h"
#include "SparseAutograd/Runtime/Device.h"
#include "SparseAutograd/Target/HostMachine.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <atomic>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <set>

using namespace sparse_autograd;

llvm::Error sparse_autograd::selectThisMachine(PipelineOptions &options,
                                               llvm::StringRef device) {
  if (!options.cpu.hasValue())
    options.cpu = "native";
  if (!device.empty() &&
      sparseAutogradSetDevice(device.str().c_str()) != SPARSE_AUTOGRAD_SUCCESS)
    return llvm::createStringError(sparseAutogradLastError());
  if (options.target == TargetKind::GPU) {
    SparseAutogradDeviceInfo info;
    if (sparseAutogradGetDeviceInfo(&info) != SPARSE_AUTOGRAD_SUCCESS)
      return llvm::createStringError(sparseAutogradLastError());
    if (llvm::StringRef(info.device).starts_with("emulated"))
      options.emulate = true;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Keys of the cache
//===----------------------------------------------------------------------===//

/// Adds the processor that code is for: of this machine's, all it has.
static void addProcessor(CodeKey &key, const PipelineOptions &options) {
  llvm::StringRef cpu = getCPUArgument(options.cpu);
  if (!cpu.empty())
    return key.add(cpu);
  key.add(llvm::sys::getHostCPUName());
  std::set<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      features.insert(feature.first().str());
  for (const std::string &feature : features)
    key.add(feature);
}

/// Adds the compiler: the versions, and the size and the time of the file that
/// this function is in, which tell builds of one version apart.
static void addCompiler(CodeKey &key) {
  key.add(SPARSE_AUTOGRAD_VERSION);
  key.add(LLVM_VERSION_STRING);
  key.add(uint64_t(SPARSE_AUTOGRAD_RUNTIME_VERSION));
  // Loops call functions of the vectors of the C library that there is.
  key.add(gnu_get_libc_version());
  Dl_info info;
  link_map *map = nullptr;
  if (!dladdr1(reinterpret_cast<const void *>(&addCompiler), &info,
               reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP))
    map = nullptr;
  // The name of the program itself is empty.
  llvm::StringRef file = map && *map->l_name ? map->l_name : "/proc/self/exe";
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(file, status))
    return key.add("unknown");
  key.add(status.getSize());
  key.add(
      uint64_t(status.getLastModificationTime().time_since_epoch().count()));
}

/// Everything that the code of `module` depends on; nothing if the module
/// cannot be written.
static std::optional<CodeKey> makeKey(mlir::ModuleOp module,
                                      const PipelineOptions &options,
                                      const EngineOptions &engineOptions) {
  CodeKey key;
  addCompiler(key);
  addProcessor(key, options);
  std::string text;
  llvm::raw_string_ostream stream(text);
  options.print(stream);
  key.add(text);
  key.add(engineOptions.optimizationLevel);
  key.add(engineOptions.countsKernels);
  // With locations, which are in the messages of assertions.
  text.clear();
  if (failed(mlir::writeBytecodeToFile(module, stream)))
    return std::nullopt;
  key.add(text);
  return key;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static std::atomic<uint64_t> cacheHitCount{0};

uint64_t sparse_autograd::getCacheHitCount() { return cacheHitCount.load(); }

/// Compiles a module that the pipeline has lowered.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compile(mlir::ModuleOp module, const PipelineOptions &options,
        const EngineOptions &engineOptions) {
  CompileOptions compileOptions;
  compileOptions.optimizationLevel = engineOptions.optimizationLevel;
  compileOptions.cpu = getCPUArgument(options.cpu).str();
  compileOptions.features = options.features;
  compileOptions.countsKernels = engineOptions.countsKernels;
  return compileToObject(module, compileOptions);
}

llvm::Expected<LoadedCode>
sparse_autograd::loadCode(mlir::ModuleOp module, const PipelineOptions &options,
                          const EngineOptions &engineOptions,
                          llvm::function_ref<llvm::Error()> lower,
                          CodeCache::Log log) {
  const CodeCache *cache = engineOptions.cache;
  std::optional<CodeKey> key;
  if (cache)
    key = makeKey(module, options, engineOptions);
  if (key) {
    if (auto object = cache->find(*key, log)) {
      auto engine = ExecutionEngine::load(std::move(object));
      if (engine) {
        ++cacheHitCount;
        return LoadedCode{std::move(*engine), /*isCached=*/true};
      }
      log("code of the cache is not used: " + toString(engine.takeError()));
    }
  }
  bool isWarned = false;
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> object = nullptr;
  {
    mlir::ScopedDiagnosticHandler observer(
        module.getContext(), [&](mlir::Diagnostic &diagnostic) {
          isWarned |=
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning;
          return mlir::failure(); // The handler before this one has it.
        });
    if (llvm::Error error = lower())
      return std::move(error);
    object = compile(module, options, engineOptions);
  }
  if (!object)
    return object.takeError();
  std::string copy;
  if (key && !isWarned)
    copy = (*object)->getBuffer().str();
  auto engine = ExecutionEngine::load(std::move(*object));
  if (!engine)
    return engine.takeError();
  if (!copy.empty())
    cache->store(*key, copy, log);
  return LoadedCode{std::move(*engine), /*isCached=*/false};
}
