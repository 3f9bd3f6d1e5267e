//===- HostCode.h - code for this machine, in this process ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_HOSTCODE_H
#define SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_HOSTCODE_H

#include "SparseAutograd/Target/HostMachine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace llvm {
class Module;
class TargetMachine;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace sparse_autograd {

/// The object file that `machine` makes of `module`, which it may change.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine,
           llvm::StringRef name);

/// A JIT whose code sees nothing of this process but what the runtime has for
/// compiled code (RuntimeFunctions.h), and functions of numbers and of memory
/// of the C library.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> createClosedJIT();

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_HOSTCODE_H
