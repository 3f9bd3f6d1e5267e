//===- LaunchToRuntime.h - a device, by calls of the runtime ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_LAUNCHTORUNTIME_LAUNCHTORUNTIME_H
#define SPARSEAUTOGRAD_CONVERSION_LAUNCHTORUNTIME_LAUNCHTORUNTIME_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace sparse_autograd {

/// The section of a constant that holds bitcode of kernels for the emulator,
/// followed by the symbol of the SparseAutogradEmulatorModule (Emulator.h) to
/// make of it, which the module declares. compileToObject puts it in the
/// constant's place.
inline constexpr llvm::StringLiteral emulatedCodeSection =
    "sparse_autograd.emulated.";

/// The constant of the compiled code that lists its images: the address of each
/// SparseAutogradImage (DeviceABI.h), then NULL. Code without images has none.
inline constexpr llvm::StringLiteral imagesSymbol = "sparse_autograd_images";

#define GEN_PASS_DECL_LAUNCHTORUNTIME
#include "SparseAutograd/Conversion/Passes.h.inc"

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_CONVERSION_LAUNCHTORUNTIME_LAUNCHTORUNTIME_H
