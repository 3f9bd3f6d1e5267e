//===- PipelinePass.td - passes with contracts -------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass says in one line each what it needs and what it leaves.
// docs/reference/Pipeline.md lists them in the order of the pipeline; a pass
// without these lines cannot be listed.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_PIPELINEPASS
#define SPARSEAUTOGRAD_PIPELINEPASS

include "mlir/Pass/PassBase.td"

class PipelinePass<string argument, string operation = "">
    : Pass<argument, operation> {
  /// What is to be there before.
  string needs = ?;
  /// What is there afterwards.
  string leaves = ?;
}

#endif // SPARSEAUTOGRAD_PIPELINEPASS
