//===- EmulatedCode.h - kernels for the emulator, in a program -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_EMULATEDCODE_H
#define SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_EMULATEDCODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd {

/// Replaces the bitcode of kernels in `code`, which is the translation of
/// `module`, by what the emulator executes, for the triple and the layout of
/// `code`; with `counts`, it counts its instructions. Fails for what the
/// emulator has not.
llvm::Error linkEmulatedCode(mlir::ModuleOp module, llvm::Module &code,
                             bool counts);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_EXECUTIONENGINE_EMULATEDCODE_H
