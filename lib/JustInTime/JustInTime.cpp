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

llvm::Expected<std::unique_ptr<ExecutionEngine>>
sparse_autograd::createEngine(mlir::ModuleOp module,
                              const PipelineOptions &options,
                              unsigned optimizationLevel, bool countsKernels) {
  CompileOptions compileOptions;
  compileOptions.optimizationLevel = optimizationLevel;
  compileOptions.cpu = getCPUArgument(options.cpu).str();
  compileOptions.features = options.features;
  compileOptions.countsKernels = countsKernels;
  return ExecutionEngine::create(module, compileOptions);
}
