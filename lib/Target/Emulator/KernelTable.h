//===- KernelTable.h - What a module has for the host -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_KERNELTABLE_H
#define SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_KERNELTABLE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace sparse_autograd {
namespace emulator {

/// What is known of a kernel before it is translated.
struct KernelInfo {
  std::string name;
  llvm::SmallVector<int32_t, 3> requiredBlock;
  int32_t maxThreads = 0;
  /// Of shared variables.
  uint64_t sharedBytes = 0;
  /// For each parameter its bytes, if it is passed by value and taken by a
  /// pointer; else 0.
  llvm::SmallVector<uint64_t> valueBytes;
};

/// The kernels of a module for NVPTX.
std::vector<KernelInfo> findKernels(const llvm::Module &module);

/// Defines the SparseAutogradEmulatorModule of a translated module: its
/// kernels, each behind a function that takes its parameters by pointers, and
/// its variables, by name, of which some are constant. Functions that may call
/// themselves need more of a stack.
void defineTable(llvm::Module &module, llvm::ArrayRef<KernelInfo> kernels,
                 llvm::ArrayRef<std::pair<std::string, bool>> variables,
                 bool isRecursive);

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_KERNELTABLE_H
