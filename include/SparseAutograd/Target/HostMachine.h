//===- HostMachine.h - code generators of this machine's kind ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The processors that code can be compiled for, by the names that LLVM has for
// them. Called by the execution engine, and by what asks LLVM for a processor's
// vectors.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TARGET_HOSTMACHINE_H
#define SPARSEAUTOGRAD_TARGET_HOSTMACHINE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace sparse_autograd {

/// LLVM's name for any processor of this machine's kind.
inline constexpr llvm::StringLiteral genericCPUName = "generic";

/// Has LLVM know this machine's kind of processors; several threads may call
/// it, and more than once.
void initializeHostTarget();

/// What createHostMachine is given for a processor as options name it: those
/// of LLVM, and "native" for this machine's.
inline llvm::StringRef getCPUArgument(llvm::StringRef option) {
  return option == "native" ? "" : option;
}

/// A generator of position independent code for the processor `cpu` of this
/// machine's kind, with the features of a list such as "+avx2,-fma" beside its
/// own. An empty `cpu` is this machine's, with all it has. Fails if LLVM knows
/// no such processor or feature.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createHostMachine(llvm::CodeGenOptLevel level, llvm::StringRef cpu = {},
                  llvm::StringRef features = {});

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TARGET_HOSTMACHINE_H
