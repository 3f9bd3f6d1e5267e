//===- PlainPointers.h - Code without address spaces ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_PLAINPOINTERS_H
#define SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_PLAINPOINTERS_H

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

namespace sparse_autograd {
namespace emulator {

/// A copy of `source` for another target, in which all pointers are plain ones
/// and nothing is left that is only of use to NVPTX. Kernels are ordinary
/// functions.
std::unique_ptr<llvm::Module> dropAddressSpaces(const llvm::Module &source,
                                                const llvm::Triple &triple,
                                                const llvm::DataLayout &layout);

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_PLAINPOINTERS_H
