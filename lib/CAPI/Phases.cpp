//===- Phases.cpp - the pipeline, with a handler after each phase ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using namespace sparse_autograd;
using namespace sparse_autograd::capi;

namespace {
/// Calls the observer after the passes of a phase.
struct CallObserver
    : mlir::PassWrapper<CallObserver, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CallObserver)

  CallObserver(PhaseObserver observer, const char *phase,
               SparseAutogradModule &module, int32_t &status)
      : observer(observer), phase(phase), module(&module), status(&status) {}

  void runOnOperation() override {
    SparseAutogradModule borrowed(module->shared, module->module);
    borrowed.isOwned = false;
    *status = observer.handler(phase, &borrowed, observer.userData);
    if (*status != SPARSE_AUTOGRAD_SUCCESS)
      signalPassFailure();
  }

  PhaseObserver observer;
  const char *phase;
  SparseAutogradModule *module;
  int32_t *status;
};
} // namespace

static const char *getName(Phase phase) {
  switch (phase) {
  case Phase::Differentiate:
    return "differentiate";
  case Phase::SelectFormats:
    return "select-formats";
  case Phase::LowerSparse:
    return "lower-sparse";
  case Phase::Target:
    return "target";
  }
  llvm_unreachable("unknown phase");
}

bool sparse_autograd::capi::parseOptions(const char *text,
                                         PipelineOptions &options,
                                         SparseAutogradDiagnostics &list) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!text || succeeded(options.parseFromString(text, stream)))
    return true;
  llvm::StringRef reason = llvm::StringRef(problem).trim();
  reason.consume_front("<Pass-Options-Parser>: ");
  list.addError("the options '" + llvm::StringRef(text) + "' cannot be read: " +
                (reason.empty() ? "a value is none of its option" : reason) +
                "; options are as in 'compile-to=lower-sparse threads=1', and "
                "'sparse-opt --help' lists them");
  return false;
}

int32_t sparse_autograd::capi::runPhases(SparseAutogradModule &module,
                                         const PipelineOptions &options,
                                         PhaseObserver observer,
                                         SparseAutogradDiagnostics &list) {
  mlir::ModuleOp op = module.module;
  if (op->hasAttr(manifestAttributeName)) {
    list.addError("the formats of the module are chosen already: run the "
                  "pipeline once, on the program, and as far as is wanted");
    return SPARSE_AUTOGRAD_INVALID_PROGRAM;
  }
  int32_t status = SPARSE_AUTOGRAD_SUCCESS;
  auto call = [&](Phase phase, mlir::OpPassManager &passes) {
    passes.addPass(std::make_unique<CallObserver>(observer, getName(phase),
                                                  module, status));
  };
  // What is added at the start of a phase runs after the phase before it.
  std::optional<Phase> before;
  auto extend = [&](Phase phase, mlir::OpPassManager &passes) {
    if (before && observer.handler)
      call(*before, passes);
    before = phase;
  };
  auto configure = [&](mlir::PassManager &passes) {
    if (observer.handler)
      call(*before, passes);
  };
  RunOf run(*module.shared);
  if (llvm::Error error = runPipeline(op, options, extend, configure)) {
    std::string message = toString(std::move(error));
    if (status != SPARSE_AUTOGRAD_SUCCESS) {
      list.addError("the phase handler stopped the pipeline");
      return status;
    }
    if (!list.hasError())
      list.addError(message);
    return SPARSE_AUTOGRAD_INVALID_PROGRAM;
  }
  return SPARSE_AUTOGRAD_SUCCESS;
}
