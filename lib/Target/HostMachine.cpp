//===- HostMachine.cpp - code generators of this machine's kind -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Target/HostMachine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace llvm;
using namespace sparse_autograd;

void sparse_autograd::initializeHostTarget() {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
}

Expected<std::unique_ptr<TargetMachine>>
sparse_autograd::createHostMachine(CodeGenOptLevel level, StringRef cpu,
                                   StringRef moreFeatures) {
  initializeHostTarget();
  Triple triple(sys::getDefaultTargetTriple());
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no target for " + triple.str() + ": " +
                             message);
  SubtargetFeatures features;
  if (cpu.empty()) {
    cpu = sys::getHostCPUName();
    for (const auto &feature : sys::getHostCPUFeatures())
      features.AddFeature(feature.getKey(), feature.getValue());
  }
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "", ""));
  for (StringRef feature : split(moreFeatures, ',')) {
    if (feature.empty())
      continue;
    // LLVM itself warns, and goes on.
    StringRef name = SubtargetFeatures::StripFlag(feature);
    if (none_of(
            subtarget->getAllProcessorFeatures(),
            [&](const SubtargetFeatureKV &known) { return name == known.Key; }))
      return createStringError("LLVM does not know the feature '" + name +
                               "' of " + triple.str());
    features.AddFeature(feature);
  }
  if (!subtarget->isCPUStringValid(cpu))
    return createStringError("LLVM does not know the processor '" + cpu +
                             "' of " + triple.str());
  TargetOptions options;
  // What runs when code is unloaded: linkers and loaders know .dtors no more.
  options.UseInitArray = true;
  // Position independent, for shared libraries and for a JIT that may place
  // the code far from the runtime.
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features.getString(), options, Reloc::PIC_,
      /*CM=*/std::nullopt, level));
  if (!machine)
    return createStringError("LLVM cannot generate code for " + triple.str());
  return machine;
}
