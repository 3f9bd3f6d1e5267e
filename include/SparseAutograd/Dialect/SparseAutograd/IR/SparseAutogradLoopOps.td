//===- SparseAutogradLoopOps.td - what loops over buffers do -*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops in the iterations of parallel loops on a device that stay whole until
// kernels are built. Programs do not use them: `--sparse-autograd-linalg-to-loops`
// makes them, and `--sparse-autograd-lower-sparse` of products with a 2:4 matrix.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLOOPOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLOOPOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

def SparseAutograd_Factor : AnyTypeOf<[AnyMemRef, AnyRankedTensor]>;

def SparseAutograd_InnerProductOp : SparseAutograd_Op<"inner_product", [
    AttrSizedOperandSegments, AllTypesMatch<["init", "result"]>]> {
  let summary = "Sum of products along a dimension of two factors";
  let description = [{
    The element of a contraction that an iteration of a parallel loop computes:

        init + sum over l < length of left[.., l, ..] * right[.., l, ..]

    `leftDim` and `rightDim` are the dimensions that l runs over; the indices are
    those of the other dimensions. Both factors have elements of one type: that of
    the sum, f32 or f64, or f16 or bf16, which are extended to f32 before they are
    multiplied. In which order terms of f16 and bf16 are added is open (semantics
    G11); others are added one after the other, from `init` on.

    With `coordinates` the left factor stores two of each four terms, along its
    last dimension, which has two elements for each four terms, the last of which
    may be fewer: the values of 2:4 storage, whose list of coordinates has four
    bits for each group. Terms that are not stored are absent from the sum.

    It is on tensors where `--sparse-autograd-lower-sparse` makes it, of a product
    with a 2:4 matrix, and on buffers from then on.

    It is a contraction that tiles of the device compute if their extents are large
    (`--sparse-autograd-products-to-kernels`), and a loop otherwise. So fusion
    sees which loops it has to leave whole, and nothing has to be recognised.

    ```mlir
    scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
      %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %k from %zero
          : memref<?x?xbf16>, memref<?x?xbf16>, f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
    %t = sparse_autograd.inner_product %w[%i] by %m along 1, %b[%j] along 0, %k from %zero
        : tensor<?x?xbf16> by tensor<?xi8>, tensor<?x?xbf16>, f32
    ```
  }];
  // First: what the type of the result is inferred from is counted in operands.
  let arguments = (ins
      AnyTypeOf<[F32, F64]>:$init,
      Arg<SparseAutograd_Factor, "the left factor", [MemRead]>:$left,
      Variadic<Index>:$leftIndices, I64Attr:$leftDim,
      Arg<SparseAutograd_Factor, "the right factor", [MemRead]>:$right,
      Variadic<Index>:$rightIndices, I64Attr:$rightDim,
      Index:$length,
      Arg<Optional<SparseAutograd_ByteList>,
          "which terms the left factor stores", [MemRead]>:$coordinates);
  let results = (outs AnyTypeOf<[F32, F64]>:$result);
  let assemblyFormat = [{
    $left `[` $leftIndices `]` (`by` $coordinates^)? `along` $leftDim `,`
    $right `[` $rightIndices `]` `along` $rightDim `,`
    $length `from` $init attr-dict
    `:` type($left) (`by` type($coordinates)^)? `,` type($right) `,`
    type($result)
  }];
  let hasVerifier = 1;
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLOOPOPS_TD
