//===- Passes.td - conversions between dialects ------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_PASSES_TD
#define SPARSEAUTOGRAD_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// SparseAutogradToLinalg
//===----------------------------------------------------------------------===//

def ConvertSparseAutogradToLinalg
    : Pass<"convert-sparse-autograd-to-linalg"> {
  let summary = "Convert masked reductions and random numbers to linalg";
  let description = [{
    Replaces `masked_reduce`, `masked_softmax`, `masked_log_softmax` and
    `random`, on dense tensors, by ops of `arith`, `math`, `linalg` and
    `tensor`; `grad_mask` and `stop_gradient` by their input. Runs after
    `--sparse-autograd-differentiate`: a derivative that is still to be made is
    an error. `log` stays.

    A mask selects, it never multiplies. The reductions are `linalg.generic` ops
    over the input and the mask, each operand with its own map, so that
    `--generate-runtime-verification` finds a mask of another extent:

    ```mlir
    %r = sparse_autograd.masked_reduce sum %x, %m dims = [1]
        : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
    ```

    becomes

    ```mlir
    %e = tensor.empty(%rows) : tensor<?xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %r = linalg.generic {indexing_maps = [(i, j) -> (i, j), (i, j) -> (i, j), (i, j) -> (i)],
                         iterator_types = ["parallel", "reduction"]}
        ins(%x, %m : tensor<?x?xf32>, tensor<?x?xi1>) outs(%z : tensor<?xf32>) {
    ^bb0(%xi: f32, %mi: i1, %sum: f32):
      %selected = arith.select %mi, %xi, %zero : f32
      %next = arith.addf %sum, %selected : f32
      linalg.yield %next : f32
    } -> tensor<?xf32>
    ```

    The number of passes over the elements: one for `sum`, `mean`, `max`, `min`,
    `prod` and `norm2`; two for `var` and `std` (the deviations from the mean)
    and for `logsumexp` (the exponentials relative to the maximum); three for
    the softmax ops. f16 and bf16 are reduced in f32 and rounded once; elements
    are counted in i64.

    The fastmath flags of an op go to the arithmetic it becomes, but for `nnan`
    and `ninf`: an element that is not selected may be a NaN.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

#endif // SPARSEAUTOGRAD_CONVERSION_PASSES_TD
