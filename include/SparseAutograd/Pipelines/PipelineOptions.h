//===- PipelineOptions.h - options of the pipeline --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one record of what can be asked of the pipeline. `--sparse-autograd`
// parses it, and the command lines of the tools and their help are made of it
// (PipelineFlags). Defaults are those of the passes. What a pass has to be told
// follows from it: each of their options is set by one of these, be it that
// `target` and `threads` stand for several.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_PIPELINES_PIPELINEOPTIONS_H
#define SPARSEAUTOGRAD_PIPELINES_PIPELINEOPTIONS_H

#include "SparseAutograd/Conversion/Passes.h"
#include "SparseAutograd/Differentiate/Passes.h"
#include "SparseAutograd/FormatSelection/Passes.h"
#include "SparseAutograd/Fusion/Passes.h"
#include "SparseAutograd/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <string>

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

/// The default of `verify-phases`: true of builds for debugging, and where the
/// environment has SPARSE_AUTOGRAD_VERIFY_PHASES, as for the tests.
bool verifiesPhases();

/// The options of the pipeline.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  /// Libraries of a GPU, as `libraries` names them.
  static constexpr llvm::StringLiteral denseLibrary = "cublaslt",
                                       sparseLibrary = "cusparse";

  //===--------------------------------------------------------------------===//
  // All phases
  //===--------------------------------------------------------------------===//

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

  Option<bool> verifyPhases{
      *this, "verify-phases",
      llvm::cl::desc("verify at the end of each phase what it leaves; by "
                     "default in builds for debugging, and where "
                     "SPARSE_AUTOGRAD_VERIFY_PHASES is set in the environment"),
      llvm::cl::init(verifiesPhases())};

  Option<bool> uncheckedStorage{
      *this, "unchecked-storage",
      llvm::cl::desc("entries take the storage of sparse arguments for valid, "
                     "which is unsafe: wrong positions or coordinates are "
                     "accesses anywhere in memory"),
      llvm::cl::init(ShareResultsOptions().uncheckedStorage)};

  Option<std::string> cpu{
      *this, "cpu", llvm::cl::value_desc("NAME"),
      llvm::cl::desc(
          "the least processor that runs the code, as LLVM calls it, such as "
          "x86-64-v3; native: this machine's; generic, the default but in "
          "sparse-runner: any of this machine's kind"),
      llvm::cl::init(AttachCPUOptions().cpu)};
  Option<std::string> features{
      *this, "features", llvm::cl::value_desc("LIST"),
      llvm::cl::desc("features besides the processor's own, as in +avx2,-fma"),
      llvm::cl::init(AttachCPUOptions().features)};

  //===--------------------------------------------------------------------===//
  // Differentiate
  //===--------------------------------------------------------------------===//

  Option<bool> proveSparsity{
      *this, "prove-sparsity",
      llvm::cl::desc("refuse a program whose backward part would make a sparse "
                     "gradient dense on its way"),
      llvm::cl::init(true)};
  Option<int64_t> residualBudget{
      *this, "residual-budget",
      llvm::cl::desc("the bytes that the residuals of one split_vjp may take, "
                     "extents that are not static counting as 64; more is "
                     "computed again in the backward part. Negative: as many "
                     "as are the fastest"),
      llvm::cl::init(DifferentiatePassOptions().residualBudget)};

  Option<int64_t> inlineLimit{
      *this, "inline-limit",
      llvm::cl::desc("the number of ops up to which a function inlines its "
                     "calls"),
      llvm::cl::init(InlineCallsOptions().limit)};

  //===--------------------------------------------------------------------===//
  // Select-formats
  //===--------------------------------------------------------------------===//

  Option<double> minSparsity{
      *this, "min-sparsity",
      llvm::cl::desc("the share of zeros above which a tensor whose format is "
                     "open is stored as a sparse one"),
      llvm::cl::init(SelectFormatsOptions().minSparsity)};
  Option<int64_t> minNnz{
      *this, "min-nnz",
      llvm::cl::desc("how many nonzeros a tensor that is stored as a sparse "
                     "one should have"),
      llvm::cl::init(SelectFormatsOptions().minNnz)};

  //===--------------------------------------------------------------------===//
  // Lower-sparse
  //===--------------------------------------------------------------------===//

  Option<int64_t> sparseChunkWork{
      *this, "sparse-chunk-work",
      llvm::cl::desc("of a CPU: the scalar iterations, weighted by their cost, "
                     "that a chunk of a loop over a sparse tensor should have"),
      llvm::cl::init(ChunkLoopsOptions().sparseChunkWork)};
  Option<int64_t> sparseVectorBytes{
      *this, "sparse-vector-bytes",
      llvm::cl::desc("of a CPU: the bytes of the vectors that compute dense "
                     "loops of sparse kernels; 0: no vectors"),
      llvm::cl::init(256)};
  Option<std::string> product24{
      *this, "product-24",
      llvm::cl::desc("of a CPU: how products with a 2:4 matrix are computed: "
                     "fastest, as a model of costs says, sparse or dense"),
      llvm::cl::init(LowerSparseOptions().product24)};
  Option<int64_t> recomputeLimit{
      *this, "recompute-limit",
      llvm::cl::desc("the largest cost of a body, in additions, that is "
                     "computed again for each of several consumers"),
      llvm::cl::init(FusePassOptions().recomputeLimit)};
  Option<int64_t> blockElements{
      *this, "block-elements",
      llvm::cl::desc("the elements that a block of rows aims at"),
      llvm::cl::init(FusePassOptions().blockElements)};
  Option<bool> groupRows{
      *this, "group-rows",
      llvm::cl::desc("form loops over blocks of rows; by default for a CPU"),
      llvm::cl::init(FusePassOptions().groupRows)};

  //===--------------------------------------------------------------------===//
  // Target
  //===--------------------------------------------------------------------===//

  Option<bool> chunks{
      *this, "chunks",
      llvm::cl::desc("cut large nests of loops into chunks, which may run in "
                     "parallel"),
      llvm::cl::init(LinalgToLoopsOptions().parallel)};
  Option<int64_t> chunkWork{
      *this, "chunk-work",
      llvm::cl::desc("the scalar iterations, weighted by their cost, that a "
                     "chunk should have; for a GPU, by default 64, those that "
                     "a thread adds up"),
      llvm::cl::init(LinalgToLoopsOptions().chunkWork)};
  Option<int64_t> maximalPartials{
      *this, "maximal-partials",
      llvm::cl::desc("the chunks of a reduction that has partial results; for "
                     "a GPU, by default 4096"),
      llvm::cl::init(LinalgToLoopsOptions().maximalPartials)};
  Option<int64_t> productWork{
      *this, "product-work",
      llvm::cl::desc("products of matrices with fewer multiply-adds, known "
                     "statically, are loops rather than calls of a library"),
      llvm::cl::init(ContractionToRuntimeOptions().minimalWork)};
  Option<int64_t> streamBytes{
      *this, "stream-bytes",
      llvm::cl::desc("of a CPU: results of as many bytes are written past the "
                     "caches"),
      llvm::cl::init(StreamResultsOptions().minimalBytes)};
  Option<int64_t> prefetchBytes{
      *this, "prefetch-bytes",
      llvm::cl::desc("of a CPU: what a loop reads is expected to be in a cache "
                     "below this size"),
      llvm::cl::init(PrefetchBlocksOptions().minimalBytes)};
  Option<int64_t> prefetchDistance{
      *this, "prefetch-distance",
      llvm::cl::desc("of a CPU: how many iterations ahead rows are fetched"),
      llvm::cl::init(PrefetchRowsOptions().distance)};
  Option<int64_t> outlineLimit{
      *this, "outline-limit",
      llvm::cl::desc("of a CPU: how many ops a function may have before its "
                     "loops become functions"),
      llvm::cl::init(OutlineLoopsOptions().limit)};
  ListOption<std::string> chip{
      *this, "chip",
      llvm::cl::desc("of a GPU: chips to assemble kernels for, such as sm_90a; "
                     "needs ptxas")};
  Option<std::string> ptx{
      *this, "ptx",
      llvm::cl::desc("of a GPU: the chip whose PTX is kept for it and later "
                     "ones; by default sm_80 if there is no other code"),
      llvm::cl::init("")};
  Option<std::string> chipFeatures{
      *this, "chip-features",
      llvm::cl::desc("of a GPU: features of LLVM's code for the chips, such as "
                     "+ptx85; empty: the least that is needed"),
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
      llvm::cl::init(FuseKernelsOptions().wholeRows)};
  Option<bool> kernelReport{
      *this, "kernel-report",
      llvm::cl::desc("of a GPU: say in remarks what each kernel takes of each "
                     "chip"),
      llvm::cl::init(KernelToObjectOptions().report)};

  /// Whether the code is for any processor of this machine's kind.
  bool isForAnyCPU() const;

  /// All options, sorted by name.
  llvm::SmallVector<llvm::cl::Option *> getOptions();

  /// Fails, having reported it to `reportError`, if the options ask for what
  /// there is not, or for something of a GPU where the target is another.
  /// `prefix` is what stands before the name of an option.
  mlir::LogicalResult check(
      llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> reportError,
      llvm::StringRef prefix = "") const;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_PIPELINES_PIPELINEOPTIONS_H
