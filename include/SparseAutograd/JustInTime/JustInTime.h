//===- JustInTime.h - code for this process -------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What whoever compiles a program to run it here shares: the options of the
// pipeline for this machine and its device, the cache of compiled code, and the
// engine that loads the code. sparse-runner and the C interface call it.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_JUSTINTIME_JUSTINTIME_H
#define SPARSEAUTOGRAD_JUSTINTIME_JUSTINTIME_H

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/JustInTime/CodeCache.h"
#include "SparseAutograd/Pipelines/PipelineOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd {

/// Sets what `options` leave open for code that runs in this process: this
/// machine's processor, and code for the emulator where that is the device of a
/// program for a GPU. `device`, unless it is empty, becomes the device of the
/// process (sparseAutogradSetDevice) first: that it is missing should not cost
/// a compilation.
llvm::Error selectThisMachine(PipelineOptions &options,
                              llvm::StringRef device = {});

/// How a module becomes code of this process.
struct EngineOptions {
  /// As that of CompileOptions: 0 to 3.
  unsigned optimizationLevel = 3;
  /// Whether kernels for the emulator count their instructions.
  bool countsKernels = false;
  /// Where code is looked up and stored; null: nowhere.
  const CodeCache *cache = nullptr;
};

/// Code in this process, and whether it was in the cache.
struct LoadedCode {
  std::unique_ptr<ExecutionEngine> engine;
  bool isCached = false;
};

/// Code of `module`, a program for the options of the pipeline
/// (selectThisMachine): that of the cache, or of what `lower`, which runs the
/// pipeline on it, makes of it. `log` receives why the cache is not used where
/// it could have been.
///
/// Code is stored under the program with its locations, the options, the
/// processor, the compiler, and the version of the ABI. What is compiled with a
/// warning is not stored, so that it is said each time.
llvm::Expected<LoadedCode> loadCode(mlir::ModuleOp module,
                                    const PipelineOptions &options,
                                    const EngineOptions &engineOptions,
                                    llvm::function_ref<llvm::Error()> lower,
                                    CodeCache::Log log);

/// How many programs this process has found in a cache.
uint64_t getCacheHitCount();

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_JUSTINTIME_JUSTINTIME_H
