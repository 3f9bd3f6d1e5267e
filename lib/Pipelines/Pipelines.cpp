//===- Pipelines.cpp - from a program to code -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Pipelines/Pipelines.h"

#include "SparseAutograd/Conversion/Passes.h"
#include "SparseAutograd/Differentiate/Passes.h"
#include "SparseAutograd/FormatSelection/Passes.h"
#include "SparseAutograd/Fusion/Passes.h"
#include "SparseAutograd/Pipelines/Passes.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "SparseAutograd/Transforms/Passes.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace sparse_autograd;

/// The least chip that has the instructions of kernels. Later ones compile its
/// PTX, and the emulator runs its code.
static constexpr llvm::StringLiteral leastChip = genericGPU.chip;

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalize());
  pm.addPass(createCSEPass());
}

/// `phase`, or a part of the target, has ended.
static void endPhase(OpPassManager &pm, const PipelineOptions &options,
                     StringRef phase) {
  if (options.verifyPhases)
    pm.addPass(createVerifyPhase({phase.str()}));
}

static void addDifferentiate(OpPassManager &pm,
                             const PipelineOptions &options) {
  pm.addPass(createCheckInput());
  endPhase(pm, options, "input");
  DifferentiatePassOptions derivatives;
  derivatives.residualBudget = options.residualBudget;
  pm.addPass(createDifferentiatePass(derivatives));
  if (options.proveSparsity)
    pm.addPass(createProveSparsityPass());
  // One function per entry: what a caller knows of an argument, the callee's
  // loops should know too.
  InlineCallsOptions calls;
  calls.limit = options.inlineLimit;
  // It canonicalizes each function.
  pm.addPass(createInlineCalls(calls));
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createCSEPass());
  endPhase(pm, options, "differentiate");
}

static void addSelectFormats(OpPassManager &pm,
                             const PipelineOptions &options) {
  SelectFormatsOptions selection;
  selection.minSparsity = options.minSparsity;
  selection.minNnz = options.minNnz;
  selection.parallel = options.threads != 1;
  selection.forDevice = options.target == TargetKind::GPU;
  pm.addPass(createSelectFormats(selection));
  // The functions that a split_vjp defines are entries as well.
  pm.addPass(createRecordManifest());
  endPhase(pm, options, "select-formats");
}

static bool asksFor(const PipelineOptions &options, StringRef library) {
  return llvm::is_contained(options.libraries, library);
}

static void addLowerSparse(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createConvertSparseAutogradToLinalg());
  // Elementwise ops on tensors are loops over their elements.
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createTensorToAssertions());
  pm.addPass(createPrepareSparse());
  endPhase(pm, options, "prepare-sparse");
  bool isForGPU = options.target == TargetKind::GPU;
  if (isForGPU && asksFor(options, PipelineOptions::sparseLibrary))
    pm.addPass(createOfferSparseProducts());
  LowerSparseOptions loops;
  loops.parallel = options.chunks;
  loops.forDevice = isForGPU;
  if (!isForGPU)
    loops.vectorBytes = options.sparseVectorBytes;
  loops.product24 = options.product24;
  pm.addPass(createLowerSparse(loops));
  pm.addPass(createScalarsToAssertions());
  // What a loop with constant bounds reads of a tensor of constant extents is
  // there. Not before: the analysis takes the loops of MLIR over iteration
  // spaces, which are refused, for loops that do not run.
  pm.addPass(arith::createIntRangeOptimizationsPass());
  addCleanup(pm);
  // Last: what it writes to is the destinations that it chose, and merging
  // equal empty tensors would undo that.
  FusePassOptions fusion;
  fusion.recomputeLimit = options.recomputeLimit;
  fusion.blockElements = options.blockElements;
  // Loops over rows are found among kernels, later.
  fusion.groupRows =
      options.groupRows && (!isForGPU || options.groupRows.hasValue());
  // Tensor cores take them so; the BLAS of the host takes what is extended.
  fusion.narrowFactors = isForGPU;
  pm.addNestedPass<func::FuncOp>(createFusePass(fusion));
  pm.addPass(createRemoveBarriers());
  pm.addPass(createCastsToAssertions());
  ShareResultsOptions results;
  results.uncheckedStorage = options.uncheckedStorage;
  pm.addPass(createShareResults(results));
  endPhase(pm, options, "lower-sparse");
}

/// Tensors to buffers that know where they end; `addPasses` may change them
/// before.
static void addBuffers(OpPassManager &pm,
                       function_ref<void(OpPassManager &)> addPasses) {
  pm.addPass(createTensorToBuffer());
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  addCleanup(pm);
  addPasses(pm);
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addNestedPass<func::FuncOp>(
      bufferization::createOptimizeAllocationLivenessPass());
  pm.addPass(createConvertBufferizationToMemRefPass());
}

static LinalgToLoopsOptions getLoops(const PipelineOptions &options) {
  LinalgToLoopsOptions loops;
  loops.parallel = options.chunks;
  loops.forDevice = options.target == TargetKind::GPU;
  loops.chunkWork = options.chunkWork;
  loops.maximalPartials = options.maximalPartials;
  // What the lanes of a warp add up at least, and how many warps.
  if (loops.forDevice && !options.chunkWork.hasValue())
    loops.chunkWork = 64;
  if (loops.forDevice && !options.maximalPartials.hasValue())
    loops.maximalPartials = genericGPU.getBusyWarps();
  return loops;
}

static void addCPU(OpPassManager &pm, const PipelineOptions &options) {
  addBuffers(pm, [&](OpPassManager &pm) {
    pm.addPass(createCompressMaskedRows());
    StreamResultsOptions results;
    results.minimalBytes = options.streamBytes;
    pm.addPass(createStreamResults(results));
    pm.addNestedPass<func::FuncOp>(
        bufferization::createPromoteBuffersToStackPass());
  });
  endPhase(pm, options, "cpu-buffers");
  PrefetchBlocksOptions blocks;
  blocks.minimalBytes = options.prefetchBytes;
  pm.addNestedPass<func::FuncOp>(createPrefetchBlocks(blocks));
  // Blocks of fused rows are cut already; their loops become plain ones.
  pm.addNestedPass<func::FuncOp>(createForallToParallelLoopPass());
  ContractionToRuntimeOptions products;
  products.minimalWork = options.productWork;
  pm.addPass(createContractionToRuntime(products));
  pm.addPass(createLinalgToLoops(getLoops(options)));
  addCleanup(pm);
  FuseKernelsOptions rowsOfEntries;
  rowsOfEntries.forHost = true;
  pm.addNestedPass<func::FuncOp>(createFuseKernels(rowsOfEntries));
  ChunkLoopsOptions chunks;
  chunks.chunkWork = options.chunkWork;
  chunks.sparseChunkWork = options.sparseChunkWork;
  pm.addNestedPass<func::FuncOp>(createChunkLoops(chunks));
  if (options.threads != 1) {
    DistributeScatterOptions owners;
    owners.chunkWork = options.chunkWork;
    owners.sparseChunkWork = options.sparseChunkWork;
    pm.addPass(createDistributeScatter(owners));
  }
  VectorizeEntriesOptions entries;
  entries.vectorBytes = options.sparseVectorBytes;
  pm.addNestedPass<func::FuncOp>(createVectorizeEntries(entries));
  // From here on buffers are allocated and released where they are now.
  pm.addPass(createBoundMemory());
  pm.addPass(createStorageToRuntime());
  endPhase(pm, options, "cpu-loops");
  PrefetchRowsOptions rows;
  rows.distance = options.prefetchDistance;
  pm.addNestedPass<func::FuncOp>(createPrefetchRows(rows));
  pm.addPass(createOutlineParallel());
  OutlineLoopsOptions outlined;
  outlined.limit = options.outlineLimit;
  pm.addPass(createOutlineLoops(outlined));
  pm.addPass(createMergeFunctions());
  addCleanup(pm);
  pm.addPass(createEmitEntries());
  pm.addPass(createProgramToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
  // Without it the outlined loops are called as they are, on this thread.
  if (options.threads != 1)
    pm.addPass(createParallelCallsToRuntime());
  addCleanup(pm);
  endPhase(pm, options, "cpu");
}

static void addGPU(OpPassManager &pm, const PipelineOptions &options) {
  addBuffers(pm, [](OpPassManager &) {});
  endPhase(pm, options, "gpu-buffers");
  pm.addPass(createStorageToLoops());
  pm.addPass(createPlaceBuffers());
  // What is left are errors, which the runtime raises.
  pm.addPass(createStorageToRuntime());
  if (asksFor(options, PipelineOptions::denseLibrary)) {
    ContractionToRuntimeOptions products;
    products.forDevice = true;
    products.minimalWork = options.productWork;
    pm.addPass(createContractionToRuntime(products));
  }
  if (asksFor(options, PipelineOptions::sparseLibrary))
    pm.addPass(createSparseProductToRuntime());
  pm.addPass(createLinalgToLoops(getLoops(options)));
  addCleanup(pm);
  endPhase(pm, options, "gpu-loops");
  FuseKernelsOptions kernels;
  kernels.wholeRows = options.wholeRows;
  pm.addNestedPass<func::FuncOp>(createFuseKernels(kernels));
  pm.addNestedPass<func::FuncOp>(createProductsToKernels());
  pm.addNestedPass<func::FuncOp>(createScheduleLanes());
  pm.addNestedPass<func::FuncOp>(createLoopsToKernels());
  addCleanup(pm);
  pm.addPass(createOutlineKernels());
  endPhase(pm, options, "gpu-kernels");
  pm.addNestedPass<gpu::GPUModuleOp>(createKernelToNVVM());
  KernelToObjectOptions code;
  code.chips = llvm::to_vector(options.chip);
  if (options.emulate)
    code.bitcode = {leastChip.str()};
  if (!options.ptx.empty())
    code.ptx = {options.ptx};
  else if (options.chip.empty() && !options.emulate)
    code.ptx = {leastChip.str()};
  code.features = options.chipFeatures;
  code.toolkit = options.toolkit;
  code.report = options.kernelReport;
  pm.addPass(createKernelToObject(code));
  pm.addPass(createLaunchToRuntime());
  pm.addPass(createEmitEntries());
  pm.addPass(createProgramToLLVM());
  pm.addPass(createReconcileUnrealizedCastsPass());
  addCleanup(pm);
  endPhase(pm, options, "gpu");
}

static void addPhase(Phase phase, OpPassManager &pm,
                     const PipelineOptions &options) {
  switch (phase) {
  case Phase::Differentiate:
    return addDifferentiate(pm, options);
  case Phase::SelectFormats:
    return addSelectFormats(pm, options);
  case Phase::LowerSparse:
    return addLowerSparse(pm, options);
  case Phase::Target:
    return options.target == TargetKind::GPU ? addGPU(pm, options)
                                             : addCPU(pm, options);
  }
}

LogicalResult sparse_autograd::buildPipeline(
    OpPassManager &pm, const PipelineOptions &options,
    function_ref<LogicalResult(const Twine &)> reportError,
    PhaseExtension extension) {
  if (failed(options.check(reportError)))
    return failure();
  if (!options.isForAnyCPU())
    pm.addPass(createAttachCPU({options.cpu, options.features}));
  for (Phase phase : {Phase::Differentiate, Phase::SelectFormats,
                      Phase::LowerSparse, Phase::Target}) {
    if (extension)
      extension(phase, pm);
    addPhase(phase, pm, options);
    if (phase == options.compileTo)
      break;
  }
  return success();
}

llvm::Error
sparse_autograd::runPipeline(ModuleOp module, const PipelineOptions &options,
                             PhaseExtension extension,
                             function_ref<void(PassManager &)> configure) {
  PassManager passes(module.getContext());
  std::string problem;
  auto report = [&](const Twine &message) {
    problem = message.str();
    return failure();
  };
  if (failed(buildPipeline(passes, options, report, extension)))
    return llvm::createStringError(Twine(problem));
  if (configure)
    configure(passes);
  if (failed(passes.run(module)))
    return llvm::createStringError(Twine("the program could not be compiled"));
  return llvm::Error::success();
}

void sparse_autograd::registerPipelines() {
  registerPassPipeline(
      "sparse-autograd",
      "Compile a program of functions on tensors: differentiate, choose "
      "formats, lower to the target",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> reportError) {
        PipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        return buildPipeline(pm, options, reportError);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(PipelineOptions());
      });
}
