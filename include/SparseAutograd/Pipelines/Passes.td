//===- Passes.td - checks between phases -------------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_PIPELINES_PASSES
#define SPARSEAUTOGRAD_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def VerifyPhase : Pass<"sparse-autograd-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Verify what a phase of the pipeline leaves";
  let description = [{
    Checks each op of a module at the end of a phase, or of a part of the target:
    that it is of what the phase leaves, and so are its types (encodings of
    sparse tensors, tensors, buffers) and the marks of the compiler on it. What
    each phase leaves is a table, `lib/Pipelines/PhaseContents.cpp`.

    What is found is a fault of a pass, not of the program; the first is
    reported:

    ```mlir
    %r = linalg.generic ... : tensor<4xf32, #CSR>
    // error: 'linalg.generic' op has type tensor<...> at the end of the phase
    // 'lower-sparse', which leaves no sparse tensors
    ```

    The pipeline has this pass at the end of each phase with `verify-phases`,
    which is the default of builds for debugging and of the tests.
  }];
  let options = [
    Option<"phase", "phase", "std::string", "",
           "Name of the phase that has ended">,
  ];
}

//===----------------------------------------------------------------------===//
// Passes of MLIR
//===----------------------------------------------------------------------===//

/// What the pipeline runs a pass of MLIR on, and for what, as in
/// PipelinePass.td.
class UpstreamPass<string name, string before, string after> {
  string argument = name;
  string needs = before;
  string leaves = after;
}

def : UpstreamPass<"symbol-dce",
                   "symbols with their visibility",
                   "no private functions without uses">;
def : UpstreamPass<"cse",
                   "any op",
                   "one op of equal ones">;
def : UpstreamPass<"canonicalize",
                   "buffers, on which all patterns of MLIR are sound",
                   "canonical forms">;
def : UpstreamPass<"convert-elementwise-to-linalg",
                   "arith and math on tensors",
                   "linalg.generic for these">;
def : UpstreamPass<"int-range-optimizations",
                   "loops in place of structured ops on sparse tensors",
                   "constants for comparisons and arithmetic whose ranges tell the result">;
def : UpstreamPass<"drop-equivalent-buffer-results",
                   "functions on buffers",
                   "no results that are arguments">;
def : UpstreamPass<"promote-buffers-to-stack",
                   "buffers without deallocations",
                   "small buffers of rank 1 on the stack">;
def : UpstreamPass<"expand-realloc",
                   "buffers",
                   "no memref.realloc">;
def : UpstreamPass<"ownership-based-buffer-deallocation",
                   "buffers without deallocations",
                   "bufferization.dealloc where buffers end">;
def : UpstreamPass<"buffer-deallocation-simplification",
                   "bufferization.dealloc",
                   "fewer conditions and aliases in these">;
def : UpstreamPass<"bufferization-lower-deallocations",
                   "bufferization.dealloc",
                   "memref.dealloc, under conditions where ownership is open">;
def : UpstreamPass<"optimize-allocation-liveness",
                   "memref.alloc and memref.dealloc",
                   "each memref.dealloc right after the last use">;
def : UpstreamPass<"convert-bufferization-to-memref",
                   "what is left of bufferization",
                   "memref ops for it">;
def : UpstreamPass<"scf-forall-to-parallel",
                   "scf.forall over blocks on buffers",
                   "scf.parallel">;
def : UpstreamPass<"reconcile-unrealized-casts",
                   "casts that cancel out",
                   "no unrealized casts">;

#endif // SPARSEAUTOGRAD_PIPELINES_PASSES
