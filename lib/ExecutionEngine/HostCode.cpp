//===- HostCode.cpp - code for this machine, in this process --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"

#include "RuntimeFunctions.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<MemoryBuffer>>
sparse_autograd::emitObject(Module &module, TargetMachine &machine,
                            StringRef name) {
  SmallVector<char, 0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  CodeGenFileType::ObjectFile))
    return createStringError("LLVM cannot write object files for " +
                             machine.getTargetTriple().str());
  passes.run(module);
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(object), name, /*RequiresNullTerminator=*/false);
}

//===----------------------------------------------------------------------===//
// JIT
//===----------------------------------------------------------------------===//

/// What compiled code may use of the C library: functions of numbers, and those
/// on memory that LLVM makes loops into.
static bool isAllowed(StringRef name) {
  static const StringSet<> allowed = [] {
    StringSet<> names;
    for (StringRef function :
         {"acos",  "acosh",     "asin",      "asinh",    "atan",      "atan2",
          "atanh", "cbrt",      "ceil",      "copysign", "cos",       "cosh",
          "erf",   "erfc",      "exp",       "exp10",    "exp2",      "expm1",
          "fabs",  "floor",     "fma",       "fmax",     "fmin",      "fmod",
          "frexp", "hypot",     "ldexp",     "lgamma",   "log",       "log10",
          "log1p", "log2",      "nearbyint", "pow",      "remainder", "rint",
          "round", "roundeven", "sin",       "sincos",   "sinh",      "sqrt",
          "tan",   "tanh",      "tgamma",    "trunc"}) {
      names.insert(function);
      names.insert((function + "f").str());
    }
    for (StringRef function : {"memcpy", "memmove", "memset", "memcmp", "bcmp"})
      names.insert(function);
    return names;
  }();
  return allowed.contains(name);
}

Expected<std::unique_ptr<orc::LLJIT>> sparse_autograd::createClosedJIT() {
  initializeHostTarget();
  // Nothing of the process is visible unless it is defined below.
  auto jit = orc::LLJITBuilder()
                 .setLinkProcessSymbolsByDefault(false)
                 .setPlatformSetUp(orc::setUpInactivePlatform)
                 .create();
  if (!jit)
    return jit.takeError();
  orc::MangleAndInterner mangle((*jit)->getExecutionSession(),
                                (*jit)->getDataLayout());
  orc::SymbolMap symbols;
  for (const RuntimeFunction &function : getRuntimeFunctions())
    symbols[mangle(function.name)] = {
        function.address, JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  orc::JITDylib &library = (*jit)->getMainJITDylib();
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    return std::move(error);
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix(),
      [](const orc::SymbolStringPtr &name) { return isAllowed(*name); });
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  return std::move(*jit);
}
