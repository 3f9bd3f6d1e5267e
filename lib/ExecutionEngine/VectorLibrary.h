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

namespace sparse_autograd {

/// The file name of glibc's vector math library.
inline constexpr const char *vectorLibraryName = "libmvec.so.1";

/// Whether the library is on this machine.
bool hasVectorLibrary();

/// Tells `info` what the library has, for x86-64: LLVM's own list, and beyond
/// it the functions that glibc 2.35 added and the versions for 512-bit vectors
/// if `hasAVX512`. All have a maximal error of 4 ulp.
void addVectorLibrary(llvm::TargetLibraryInfoImpl &info, bool hasAVX512);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_EXECUTIONENGINE_VECTORLIBRARY_H
