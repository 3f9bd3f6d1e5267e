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

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd {

/// The phases, in order. Each name is also a value of the option `compile-to`.
enum class Phase {
  /// `differentiate`: the calls of derivatives (value_and_grad, vjp, jvp) have
  /// become plain functions on tensors, and functions are inlined.
  Differentiate,
  /// `select-formats`: every tensor has the encoding that it is stored in.
  /// Dense tensors have none. The manifest of the public functions is recorded.
  SelectFormats,
  /// `lower-sparse`: linalg, arith and math on dense tensors, fused; no op of
  /// sparse_autograd is left but `log`. What shapes leave open is asserted.
  LowerSparse,
  /// `target`: code of the target. A module of the LLVM dialect whose entries
  /// have the C ABI of Runtime.h; for a GPU with the kernels in it.
  Target
};

/// Where the code is to run; a value of the option `target`.
enum class TargetKind {
  CPU, ///< `cpu`
  GPU  ///< `gpu`
};

/// The options of the pipeline.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<TargetKind> target{
      *this, "target", llvm::cl::desc("where the code is to run"),
      llvm::cl::init(TargetKind::CPU),
      llvm::cl::values(
          clEnumValN(TargetKind::CPU, "cpu", "this machine's processor"),
          clEnumValN(TargetKind::GPU, "gpu", "an NVIDIA GPU"))};
  Option<Phase> compileTo{
      *this, "compile-to", llvm::cl::desc("the last phase to run"),
      llvm::cl::init(Phase::Target),
      llvm::cl::values(
          clEnumValN(Phase::Differentiate, "differentiate",
                     "derivatives are plain functions on tensors"),
          clEnumValN(Phase::SelectFormats, "select-formats",
                     "every tensor has its encoding"),
          clEnumValN(Phase::LowerSparse, "lower-sparse",
                     "linalg on dense tensors, fused"),
          clEnumValN(Phase::Target, "target", "code of the target"))};
  Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("0: the runtime decides how many threads a loop uses; 1: "
                     "the code never asks for more than one. The results are "
                     "the same bits"),
      llvm::cl::init(0)};
  ListOption<std::string> chip{
      *this, "chip",
      llvm::cl::desc("of a GPU: chips to assemble kernels for, such as sm_90a; "
                     "needs ptxas")};
  Option<std::string> ptx{
      *this, "ptx",
      llvm::cl::desc("of a GPU: the chip whose PTX is kept for it and later "
                     "ones; by default sm_80 if there is no other code"),
      llvm::cl::init("")};
  Option<bool> emulate{
      *this, "emulate",
      llvm::cl::desc("of a GPU: keep code for the emulator too, which runs "
                     "kernels on the CPU"),
      llvm::cl::init(false)};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc("of a GPU: the folder of the CUDA toolkit whose ptxas and "
                     "libdevice are used; empty: the configured one"),
      llvm::cl::init("")};
  ListOption<std::string> libraries{
      *this, "libraries",
      llvm::cl::desc(
          "of a GPU: libraries to call where they are there when the "
          "code runs, beside kernels for where they are not: "
          "cublaslt (products of dense matrices), cusparse (products "
          "of a sparse matrix); none by default")};
  Option<bool> wholeRows{
      *this, "whole-rows",
      llvm::cl::desc("of a GPU: a sampled product, a softmax of its rows and a "
                     "product with that are one kernel, which does a row after "
                     "the other; for patterns whose rows are about as long"),
      llvm::cl::init(false)};
  Option<bool> kernelReport{
      *this, "kernel-report",
      llvm::cl::desc("of a GPU: say in remarks what each kernel takes of each "
                     "chip"),
      llvm::cl::init(false)};
  Option<bool> proveSparsity{
      *this, "prove-sparsity",
      llvm::cl::desc("refuse a program whose backward part would make a sparse "
                     "gradient dense on its way"),
      llvm::cl::init(true)};
};

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
