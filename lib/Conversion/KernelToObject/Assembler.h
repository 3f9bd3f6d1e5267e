//===- Assembler.h - ptxas, run as a program --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_ASSEMBLER_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_ASSEMBLER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace sparse_autograd {

/// What a kernel takes of a chip, as the assembler says.
struct KernelResources {
  std::string kernel;
  /// Of each thread.
  unsigned registers = 0;
  unsigned spillStoreBytes = 0, spillLoadBytes = 0;
  unsigned stackBytes = 0;
  /// Of each block, without dynamic shared memory.
  unsigned sharedBytes = 0;
};

/// A file that a chip executes.
struct AssembledCode {
  std::string cubin;
  std::vector<KernelResources> kernels;
};

/// Assembles `ptx` for `chip` with the program `ptxas`, which is started with
/// options of our own and on files of our own, in a temporary folder that is
/// gone afterwards. An error says what the assembler says.
llvm::Expected<AssembledCode>
assemble(llvm::StringRef ptxas, llvm::StringRef ptx, llvm::StringRef chip);

/// Asks for half as many blocks on a multiprocessor at once (`.minnctapersm`)
/// for the kernels that spill registers, as long as that is more than one:
/// their threads have more registers then. Returns whether `ptx` has changed.
bool relaxOccupancy(std::string &ptx, llvm::ArrayRef<KernelResources> kernels);

/// Reads what `ptxas -v` prints.
std::vector<KernelResources> parseResources(llvm::StringRef report);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_KERNELTOOBJECT_ASSEMBLER_H
