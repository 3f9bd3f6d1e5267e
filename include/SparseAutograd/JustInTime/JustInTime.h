//===- JustInTime.h - code for this process -------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What whoever compiles a program to run it here shares: the options of the
// pipeline for this machine and its device, and the engine that loads the code.
// sparse-runner and the C interface call it, the pipeline between the two.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_JUSTINTIME_JUSTINTIME_H
#define SPARSEAUTOGRAD_JUSTINTIME_JUSTINTIME_H

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Pipelines/PipelineOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd {

/// Sets what `options` leave open for code that runs in this process: this
/// machine's processor, and code for the emulator where that is the device of a
/// program for a GPU. `device`, unless it is empty, becomes the device of the
/// process (sparseAutogradSetDevice) first: that it is missing should not cost
/// a compilation.
llvm::Error selectThisMachine(PipelineOptions &options,
                              llvm::StringRef device = {});

/// Loads the code of a module that the pipeline has lowered with `options`; its
/// kernels for the emulator count their instructions if `countsKernels`.
llvm::Expected<std::unique_ptr<ExecutionEngine>>
createEngine(mlir::ModuleOp module, const PipelineOptions &options,
             unsigned optimizationLevel = 3, bool countsKernels = false);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_JUSTINTIME_JUSTINTIME_H
