//===- PipelineOptions.cpp - options of the pipeline ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Pipelines/PipelineOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Target/TargetMachine.h"
#include <cstdlib>
#include <memory>

using namespace mlir;
using namespace sparse_autograd;

bool sparse_autograd::verifiesPhases() {
#ifdef SPARSE_AUTOGRAD_DEBUG
  return true;
#else
  return std::getenv("SPARSE_AUTOGRAD_VERIFY_PHASES");
#endif
}

llvm::SmallVector<llvm::cl::Option *> PipelineOptions::getOptions() {
  llvm::SmallVector<llvm::cl::Option *> options;
  for (const auto &entry : OptionsMap)
    options.push_back(entry.second);
  llvm::sort(options, [](const llvm::cl::Option *a, const llvm::cl::Option *b) {
    return a->ArgStr < b->ArgStr;
  });
  return options;
}

bool PipelineOptions::isForAnyCPU() const {
  AttachCPUOptions defaults;
  return cpu == defaults.cpu && features == defaults.features;
}

LogicalResult
PipelineOptions::check(function_ref<LogicalResult(const Twine &)> reportError,
                       StringRef prefix) const {
  if (threads != 0 && threads != 1)
    return reportError(
        prefix +
        "threads must be 0 (the runtime decides) or 1; set any other number "
        "in the runtime, when the code runs");
  for (const std::string &library : libraries)
    if (library != denseLibrary && library != sparseLibrary)
      return reportError("there is no library '" + Twine(library) +
                         "': libraries are " + denseLibrary + " and " +
                         sparseLibrary);
  if (!isForAnyCPU())
    if (auto machine = createHostMachine(llvm::CodeGenOptLevel::Default,
                                         getCPUArgument(cpu), features);
        !machine)
      return reportError(toString(machine.takeError()));
  // A list has an operator & of its own.
  const llvm::cl::Option *ofGPU[] = {
      std::addressof(chip),      &ptx,       &chipFeatures, &emulate, &toolkit,
      std::addressof(libraries), &wholeRows, &kernelReport};
  for (const llvm::cl::Option *option : ofGPU)
    if (option->getNumOccurrences() && target != TargetKind::GPU)
      return reportError(prefix + option->ArgStr + " is of " + prefix +
                         "target=gpu alone");
  return success();
}
