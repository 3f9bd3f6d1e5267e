//===- EmulatedModule.cpp - Device code in this process ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Target/Emulator/EmulatedModule.h"

#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "SparseAutograd/Target/Emulator/TranslateToEmulator.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace llvm;
using namespace sparse_autograd;

/// The emulator's functions, by address: they are linked to this library.
static orc::SymbolMap getEmulatorSymbols(orc::MangleAndInterner &mangle) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[mangle(name)] = {orc::ExecutorAddr::fromPtr(function),
                             JITSymbolFlags::Exported |
                                 JITSymbolFlags::Callable};
  };
  add("sparseAutogradEmulateAccess", &sparseAutogradEmulateAccess);
  add("sparseAutogradEmulateActiveMask", &sparseAutogradEmulateActiveMask);
  add("sparseAutogradEmulateBarrier", &sparseAutogradEmulateBarrier);
  add("sparseAutogradEmulateBarrierArrive",
      &sparseAutogradEmulateBarrierArrive);
  add("sparseAutogradEmulateBarrierReduce",
      &sparseAutogradEmulateBarrierReduce);
  add("sparseAutogradEmulateCommitGroup", &sparseAutogradEmulateCommitGroup);
  add("sparseAutogradEmulateCopyAsync", &sparseAutogradEmulateCopyAsync);
  add("sparseAutogradEmulateElect", &sparseAutogradEmulateElect);
  add("sparseAutogradEmulateExit", &sparseAutogradEmulateExit);
  add("sparseAutogradEmulateLoadMatrix", &sparseAutogradEmulateLoadMatrix);
  add("sparseAutogradEmulateMatchAll", &sparseAutogradEmulateMatchAll);
  add("sparseAutogradEmulateMatchAny", &sparseAutogradEmulateMatchAny);
  add("sparseAutogradEmulateProduct", &sparseAutogradEmulateProduct);
  add("sparseAutogradEmulateReduce", &sparseAutogradEmulateReduce);
  add("sparseAutogradEmulateRegister", &sparseAutogradEmulateRegister);
  add("sparseAutogradEmulateRoundedF32", &sparseAutogradEmulateRoundedF32);
  add("sparseAutogradEmulateRoundedF64", &sparseAutogradEmulateRoundedF64);
  add("sparseAutogradEmulateSharedMemory", &sparseAutogradEmulateSharedMemory);
  add("sparseAutogradEmulateShuffle", &sparseAutogradEmulateShuffle);
  add("sparseAutogradEmulateSpace", &sparseAutogradEmulateSpace);
  add("sparseAutogradEmulateStep", &sparseAutogradEmulateStep);
  add("sparseAutogradEmulateTrap", &sparseAutogradEmulateTrap);
  add("sparseAutogradEmulateVote", &sparseAutogradEmulateVote);
  add("sparseAutogradEmulateWaitAll", &sparseAutogradEmulateWaitAll);
  add("sparseAutogradEmulateWaitGroup", &sparseAutogradEmulateWaitGroup);
  add("sparseAutogradEmulateWarpSync", &sparseAutogradEmulateWarpSync);
  return symbols;
}

static Expected<std::unique_ptr<TargetMachine>> createHostMachine() {
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  Triple triple(sys::getDefaultTargetTriple());
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError("LLVM has no target for " + triple.str() + ": " +
                             message);
  SubtargetFeatures features;
  for (const auto &feature : sys::getHostCPUFeatures())
    features.AddFeature(feature.getKey(), feature.getValue());
  // Most of the time is spent in the emulator: code need not be good, but it is
  // wanted soon.
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, sys::getHostCPUName(), features.getString(), TargetOptions(),
      Reloc::PIC_, /*CM=*/std::nullopt, CodeGenOptLevel::Less));
  if (!machine)
    return createStringError("LLVM cannot generate code for " + triple.str());
  return machine;
}

EmulatedModule::EmulatedModule() = default;
EmulatedModule::~EmulatedModule() = default;

Expected<std::unique_ptr<EmulatedModule>>
EmulatedModule::load(const Module &device) {
  Expected<std::unique_ptr<TargetMachine>> machine = createHostMachine();
  if (!machine)
    return machine.takeError();
  Expected<std::unique_ptr<Module>> host = translateToEmulator(
      device, (*machine)->getTargetTriple(), (*machine)->createDataLayout());
  if (!host)
    return host.takeError();

  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr,
                                      CodeGenFileType::ObjectFile))
    return createStringError("LLVM cannot write object files for " +
                             (*machine)->getTargetTriple().str());
  passes.run(**host);

  auto jit = orc::LLJITBuilder()
                 .setLinkProcessSymbolsByDefault(false)
                 .setPlatformSetUp(orc::setUpInactivePlatform)
                 .create();
  if (!jit)
    return jit.takeError();
  orc::JITDylib &library = (*jit)->getMainJITDylib();
  orc::MangleAndInterner mangle((*jit)->getExecutionSession(),
                                (*jit)->getDataLayout());
  if (Error error =
          library.define(orc::absoluteSymbols(getEmulatorSymbols(mangle))))
    return std::move(error);
  // Functions of numbers and of memory. The translation has refused calls of
  // anything else.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  if (Error error =
          (*jit)->addObjectFile(std::make_unique<SmallVectorMemoryBuffer>(
              std::move(object), "emulated.o",
              /*RequiresNullTerminator=*/false)))
    return std::move(error);
  auto table = (*jit)->lookup(emulatorModuleSymbol);
  if (!table)
    return table.takeError();

  std::unique_ptr<EmulatedModule> result(new EmulatedModule());
  result->jit = std::move(*jit);
  result->module = table->toPtr<const SparseAutogradEmulatorModule *>();
  return result;
}

const SparseAutogradEmulatorKernel *
EmulatedModule::lookup(StringRef name) const {
  for (int32_t i = 0; i < module->kernelCount; ++i)
    if (name == module->kernels[i].name)
      return &module->kernels[i];
  return nullptr;
}
