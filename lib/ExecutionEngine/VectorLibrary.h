//===- VectorLibrary.h - elementary functions on vectors --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_EXECUTIONENGINE_VECTORLIBRARY_H
#define SPARSEAUTOGRAD_EXECUTIONENGINE_VECTORLIBRARY_H

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace sparse_autograd {

/// The file name of glibc's vector math library.
inline constexpr const char *vectorLibraryName = "libmvec.so.1";

/// Whether the library is on this machine.
bool hasVectorLibrary();

/// Tells `info` what the library has for code of `machine`: LLVM's own list,
/// and beyond it the functions that glibc 2.35 added and the versions for
/// 512-bit vectors. A function is offered if its processor's features are among
/// those of `machine`, whatever machine the compiler runs on; nothing is where
/// `machine` is no x86-64. All have a maximal error of 4 ulp.
void addVectorLibrary(llvm::TargetLibraryInfoImpl &info,
                      const llvm::TargetMachine &machine);

/// Fails if a function of `module` calls one of the library that takes its
/// vectors in registers, or computes with instructions, that the caller's
/// target does not have: such a call links, and returns wrong numbers.
llvm::Error verifyVectorCalls(const llvm::Module &module,
                              const llvm::TargetMachine &machine);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_EXECUTIONENGINE_VECTORLIBRARY_H
