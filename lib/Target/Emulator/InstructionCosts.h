//===- InstructionCosts.h - What device code costs a warp -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cost of LLVM IR for NVPTX in instructions of a warp: an estimate of what
// ptxas makes of it. Used by counted code (CountedCode.cpp). Assumes IR that
// has been optimized and whose accesses have their final widths.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_INSTRUCTIONCOSTS_H
#define SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_INSTRUCTIONCOSTS_H

#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "llvm/IR/Instructions.h"

namespace sparse_autograd {
namespace emulator {

struct WarpCost {
  /// A SparseAutogradEmulatedClass, and how many instructions; 0: it is folded
  /// into another one.
  int which = SPARSE_AUTOGRAD_CLASS_INTEGER;
  unsigned count = 0;
  /// Until what needs its result can begin.
  unsigned cycles = 0;
  /// Whether these are those of an access of memory.
  bool isGlobal = false, isShared = false;
  /// Multiplications with an addition on tensor cores, by the warp.
  unsigned tensorMacs = 0;
};

WarpCost getCost(const llvm::Instruction &instruction);

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_INSTRUCTIONCOSTS_H
