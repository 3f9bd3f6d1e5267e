//===- CountedCode.h - Code that counts its instructions --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instrumentation of basic blocks, for kernels that are translated to be
// counted. Called by translateToEmulator before it changes anything else.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_COUNTEDCODE_H
#define SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_COUNTEDCODE_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd {
namespace emulator {

/// Makes neighbouring accesses wide ones, as the generator of PTX does before
/// it emits them. Fails without LLVM's target for NVPTX.
llvm::Error vectorizeAccesses(llvm::Module &module);

/// Has every basic block tell the emulator what it costs.
void countInstructions(llvm::Module &module);

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_COUNTEDCODE_H
