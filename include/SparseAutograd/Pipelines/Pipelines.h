//===- Pipelines.h - from a program to code ---------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline `--sparse-autograd`, as a sequence of named phases. Each phase
// ends in a state of the IR that a test describes (test/Pipelines) and that
// `compile-to` stops at.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_PIPELINES_PIPELINES_H
#define SPARSEAUTOGRAD_PIPELINES_PIPELINES_H

#include "SparseAutograd/Pipelines/PipelineOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd {

/// Called before the passes of each phase are added to `pm`: what it adds runs
/// first in that phase. Ops of other dialects are lowered at the start of
/// Phase::LowerSparse, to linalg, arith and math on tensors; by then they are
/// differentiated, and what follows fuses and parallelizes them like the rest.
using PhaseExtension =
    llvm::function_ref<void(Phase phase, mlir::OpPassManager &pm)>;

/// Adds the passes of the phases up to `options.compileTo` to `pm`, whose op is
/// a module, each after those of `extension`, if given. Fails, having reported
/// it to `reportError`, if the options ask for something that there is not;
/// then `pm` is unchanged.
mlir::LogicalResult buildPipeline(
    mlir::OpPassManager &pm, const PipelineOptions &options,
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> reportError,
    PhaseExtension extension = {});

/// Runs the pipeline on `module`, with a pass manager of its own, which
/// `configure` may set up (instrumentation, crash reproducers). Fails if the
/// options ask for something that there is not or if a pass fails; what is
/// wrong with the program is reported to the context, as diagnostics with
/// locations.
llvm::Error
runPipeline(mlir::ModuleOp module, const PipelineOptions &options = {},
            PhaseExtension extension = {},
            llvm::function_ref<void(mlir::PassManager &)> configure = {});

/// Registers the pipeline as `--sparse-autograd`.
void registerPipelines();

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_PIPELINES_PIPELINES_H
