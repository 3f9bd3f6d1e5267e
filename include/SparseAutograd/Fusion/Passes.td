//===- Passes.td - fusion of tensor programs ---------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_FUSION_PASSES
#define SPARSEAUTOGRAD_FUSION_PASSES

include "SparseAutograd/PipelinePass.td"

def FusePass : PipelinePass<"sparse-autograd-fuse", "::mlir::func::FuncOp"> {
  let summary = "Turn linalg on tensors into few passes over memory";
  let needs = "linalg on dense tensors with assertions before it";
  let leaves = "elementwise producers in their consumers, and scf.forall over blocks of rows";
  let description = [{
    Works on what differentiation and the decomposition of masked operations
    leave: many small `linalg` operations over the same data. In order:

    1. every elementwise producer is computed inside each of its consumers,
       reductions included, when that costs less than a round trip of its
       result through memory; selects of the same mask are merged;
    2. reductions (or elementwise operations) over the same elements that do
       not depend on each other become one operation with several results;
    3. what remains over the same rows (the maximum of a row, then the sum of
       its exponentials, then its gradient) moves into one `scf.forall` over
       blocks of rows, so that a row is read from memory once. Intermediate
       values shrink to a block; reductions over the rows themselves are kept
       as one partial result a block, combined in order afterwards.

    The size of a block depends on the extents only: results are the same bits
    for any number of threads. Matrix products are never broken up, they go to
    a library, which adds them, times a factor, to what they are added to. Operations on encoded (sparse) tensors are left alone.

    For example

    ```mlir
    %max = linalg.generic ... iterator_types = ["parallel", "reduction"]
    %sum = linalg.generic ins(%x, %m, %max ...) ... ["parallel", "reduction"]
    %gradient = linalg.generic ins(%x, %m, %max, %sum ...) ... ["parallel", "parallel"]
    ```

    becomes

    ```mlir
    %gradient = scf.forall (%row) in (4096) shared_outs(%out = %empty) -> (tensor<4096x4096xf32>) {
      %x_row = tensor.extract_slice %x[%row, 0] [1, 4096] [1, 1]
      // the three operations on one row
      scf.forall.in_parallel { tensor.parallel_insert_slice ... }
    }
    ```

    Every decision is a remark of the category `sparse-autograd-fuse`.
  }];
  let options = [
    Option<"recomputeLimit", "recompute-limit", "int64_t", "64",
           "Largest cost of a body, in additions, that is computed again for "
           "each of several consumers">,
    Option<"blockElements", "block-elements", "int64_t",
           "::sparse_autograd::genericCPU.firstCacheBytes / 2 / sizeof(float)",
           "Elements that a block of rows aims at">,
    Option<"groupRows", "group-rows", "bool", "true",
           "Form loops over blocks of rows">,
    Option<"narrowFactors", "narrow-factors", "bool", "false",
           "Have products of matrices read factors that are extended from f16 "
           "or bf16 as they are stored">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
  ];
}

#endif // SPARSEAUTOGRAD_FUSION_PASSES
