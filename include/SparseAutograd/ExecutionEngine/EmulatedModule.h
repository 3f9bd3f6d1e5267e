//===- EmulatedModule.h - Device code in this process -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device code, compiled for this processor and loaded, with its kernels as the
// emulator takes them.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_EXECUTIONENGINE_EMULATEDMODULE_H
#define SPARSEAUTOGRAD_EXECUTIONENGINE_EMULATEDMODULE_H

#include "SparseAutograd/Runtime/Emulator.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace llvm {
class Module;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace sparse_autograd {

/// Kernels loaded into this process. They stay callable while it lives.
class EmulatedModule {
public:
  /// Translates (translateToEmulator), compiles and loads a module for NVPTX.
  /// Fails as the translation does. With `counts`, code counts its
  /// instructions.
  static llvm::Expected<std::unique_ptr<EmulatedModule>>
  load(const llvm::Module &device, bool counts = false);

  ~EmulatedModule();
  EmulatedModule(const EmulatedModule &) = delete;
  EmulatedModule &operator=(const EmulatedModule &) = delete;

  /// For sparseAutogradEmulatorAddModule.
  const SparseAutogradEmulatorModule &getModule() const { return *module; }

  /// The kernel with the name, or null.
  const SparseAutogradEmulatorKernel *lookup(llvm::StringRef name) const;

private:
  EmulatedModule();

  std::unique_ptr<llvm::orc::LLJIT> jit;
  const SparseAutogradEmulatorModule *module = nullptr;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_EXECUTIONENGINE_EMULATEDMODULE_H
