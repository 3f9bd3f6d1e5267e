//===- EmulatedCode.cpp - kernels for the emulator, in a program ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedCode.h"

#include "SparseAutograd/Conversion/LaunchToRuntime/LaunchToRuntime.h"
#include "SparseAutograd/Target/Emulator/TranslateToEmulator.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;
using namespace sparse_autograd;

/// Defines the table `symbol` of the kernels in `bitcode`.
static Error linkKernels(StringRef bitcode, StringRef symbol, Module &code,
                         bool counts) {
  Expected<std::unique_ptr<Module>> device =
      parseBitcodeFile(MemoryBufferRef(bitcode, symbol), code.getContext());
  if (!device)
    return device.takeError();
  Expected<std::unique_ptr<Module>> host = translateToEmulator(
      **device, code.getTargetTriple(), code.getDataLayout(), counts);
  if (!host)
    return host.takeError();
  // The only symbol that is not internal.
  (*host)->getNamedGlobal(emulatorModuleSymbol)->setName(symbol);
  if (Linker::linkModules(code, std::move(*host)))
    return createStringError("'" + symbol + "' cannot be linked");
  code.getNamedGlobal(symbol)->setLinkage(GlobalValue::InternalLinkage);
  return Error::success();
}

Error sparse_autograd::linkEmulatedCode(mlir::ModuleOp module, Module &code,
                                        bool counts) {
  for (auto global : module.getOps<mlir::LLVM::GlobalOp>()) {
    StringRef symbol = global.getSection().value_or("");
    auto bitcode =
        dyn_cast_if_present<mlir::StringAttr>(global.getValueOrNull());
    if (!symbol.consume_front(emulatedCodeSection) || !bitcode)
      continue;
    const GlobalVariable *declared = code.getNamedGlobal(symbol);
    if (!declared || !declared->isDeclaration())
      return createStringError("'" + symbol +
                               "', which is to be made of bitcode, must be "
                               "declared, and not defined");
    GlobalVariable *constant = code.getNamedGlobal(global.getSymName());
    if (constant->use_empty())
      constant->eraseFromParent();
    if (Error error = linkKernels(bitcode, symbol, code, counts))
      return error;
  }
  return Error::success();
}
