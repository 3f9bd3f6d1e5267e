//===- TranslateToEmulator.h - Device code for the emulator -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the LLVM IR that goes to PTX to LLVM IR of the host that calls the
// emulator (SparseAutograd/Runtime/EmulatorABI.h).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TARGET_EMULATOR_TRANSLATETOEMULATOR_H
#define SPARSEAUTOGRAD_TARGET_EMULATOR_TRANSLATETOEMULATOR_H

#include "llvm/IR/DataLayout.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>

namespace llvm {
class Module;
} // namespace llvm

namespace sparse_autograd {

/// The SparseAutogradEmulatorModule that the translated module defines: its
/// kernels and its variables.
inline constexpr char emulatorModuleSymbol[] =
    "_sparse_autograd_emulator_module";

/// Translates a module for NVPTX, in the state in which it goes to PTX, to one
/// for a host with the triple and the layout. `device` is not changed.
///
/// - A kernel becomes a function that takes pointers to its parameters.
/// - Address spaces become plain pointers, and shared variables offsets into
///   the shared memory of the block.
/// - Calls of `llvm.nvvm.*` become calls of the emulator, and functions of
///   libdevice that are not linked in (`__nv_*`) become those of libm.
/// - Before each access of memory that is not of the thread's own stack, the
///   emulator is told what is accessed, and where the kernel does it.
/// - With `counts`, neighbouring accesses are made wide ones first, as they are
///   on the way to PTX, and each basic block tells the emulator what it costs:
///   code for launches that are counted (sparseAutogradEmulatorCount).
///
/// Fails, naming the instruction and its function, for intrinsics that are not
/// emulated, for inline assembly that is not libdevice's, and for functions
/// that nothing defines.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateToEmulator(const llvm::Module &device, const llvm::Triple &triple,
                    const llvm::DataLayout &layout, bool counts = false);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TARGET_EMULATOR_TRANSLATETOEMULATOR_H
