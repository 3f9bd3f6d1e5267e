//===- Phases.h - the pipeline, with a handler after each phase -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What running and compiling a module have in common: options as text, and the
// phases with the handler of the C interface after each.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CAPI_PHASES_H
#define SPARSEAUTOGRAD_LIB_CAPI_PHASES_H

#include "Objects.h"
#include "SparseAutograd/Pipelines/PipelineOptions.h"

namespace sparse_autograd::capi {

/// Marks a context, which is locked, as one that passes run in.
class RunOf {
public:
  explicit RunOf(SharedContext &shared) : shared(shared) {
    shared.isRunning = true;
  }
  ~RunOf() { shared.isRunning = false; }
  RunOf(const RunOf &) = delete;
  RunOf &operator=(const RunOf &) = delete;

private:
  SharedContext &shared;
};

/// A handler and what it is called with; the handler may be null.
struct PhaseObserver {
  SparseAutogradPhaseHandler handler = nullptr;
  void *userData = nullptr;
};

/// Reads the options of the pipeline from a text, null for none; false, having
/// said why, if it is not valid.
bool parseOptions(const char *text, PipelineOptions &options,
                  SparseAutogradDiagnostics &list);

/// Runs the pipeline on a module, which is what the handler is given, though it
/// may not release it. Returns a status, having said
/// what is wrong: that of the observer, if it stops the pipeline.
int32_t runPhases(SparseAutogradModule &module, const PipelineOptions &options,
                  PhaseObserver observer, SparseAutogradDiagnostics &list);

} // namespace sparse_autograd::capi

#endif // SPARSEAUTOGRAD_LIB_CAPI_PHASES_H
