//===- Passes.td - rewrites that phases share --------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_PASSES
#define SPARSEAUTOGRAD_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def Canonicalize : Pass<"sparse-autograd-canonicalize"> {
  let summary = "Canonicalize without patterns of MLIR that are not sound";
  let description = [{
    MLIR's canonicalizer, without the patterns that change what a program
    computes. In MLIR 22.1 that is one: it moves a cast of what `scf.for` starts
    from into the loop. In

    ```mlir
    %start = tensor.cast %none : tensor<0xindex> to tensor<?xindex>
    %list = scf.for ... iter_args(%it = %start) -> (tensor<?xindex>) {
      %longer = ...
      scf.yield %longer : tensor<?xindex>
    }
    ```

    the loop would then carry `tensor<0xindex>`, and what it yields would be cast
    to that type, which is not true of a list that grows. The pattern that takes
    its place asks that each iteration keeps the extents: what it yields has those
    of what it starts from, or constants that are the same.

    What runs on tensors takes this pass in place of `canonicalize`.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

#endif // SPARSEAUTOGRAD_TRANSFORMS_PASSES
