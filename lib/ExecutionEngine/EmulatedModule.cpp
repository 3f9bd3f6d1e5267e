//===- EmulatedModule.cpp - Device code in this process ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/ExecutionEngine/EmulatedModule.h"

#include "HostCode.h"
#include "SparseAutograd/Target/Emulator/TranslateToEmulator.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace sparse_autograd;

EmulatedModule::EmulatedModule() = default;
EmulatedModule::~EmulatedModule() = default;

Expected<std::unique_ptr<EmulatedModule>>
EmulatedModule::load(const Module &device, bool counts) {
  // Most of the time is spent in the emulator: code need not be good, but it is
  // wanted soon.
  Expected<std::unique_ptr<TargetMachine>> machine =
      createHostMachine(CodeGenOptLevel::Less);
  if (!machine)
    return machine.takeError();
  Expected<std::unique_ptr<Module>> host =
      translateToEmulator(device, (*machine)->getTargetTriple(),
                          (*machine)->createDataLayout(), counts);
  if (!host)
    return host.takeError();
  auto object = emitObject(**host, **machine, "emulated.o");
  if (!object)
    return object.takeError();
  auto jit = createClosedJIT();
  if (!jit)
    return jit.takeError();
  if (Error error = (*jit)->addObjectFile(std::move(*object)))
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
