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
// makes them.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLOOPOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLOOPOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

def SparseAutograd_InnerProductOp : SparseAutograd_Op<"inner_product", [
    AttrSizedOperandSegments, AllTypesMatch<["init", "result"]>]> {
  let summary = "Sum of products along a dimension of two buffers";
  let description = [{
    The element of a contraction that an iteration of a parallel loop computes:

        init + sum over l < length of left[.., l, ..] * right[.., l, ..]

    `leftDim` and `rightDim` are the dimensions that l runs over; the indices are
    those of the other dimensions. Both buffers have elements of one type: that of
    the sum, f32 or f64, or f16 or bf16, which are extended to f32 before they are
    multiplied. In which order terms of f16 and bf16 are added is open (semantics
    G11); others are added one after the other, from `init` on.

    It is a contraction that tiles of the device compute if their extents are large
    (`--sparse-autograd-products-to-kernels`), and a loop otherwise. So fusion
    sees which loops it has to leave whole, and nothing has to be recognised.

    ```mlir
    scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
      %s = sparse_autograd.inner_product %a[%i] along 1, %b[%j] along 0, %k from %zero
          : memref<?x?xbf16>, memref<?x?xbf16>, f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
    ```
  }];
  // First: what the type of the result is inferred from is counted in operands.
  let arguments = (ins
      AnyTypeOf<[F32, F64]>:$init,
      Arg<AnyMemRef, "the left factor", [MemRead]>:$left,
      Variadic<Index>:$leftIndices, I64Attr:$leftDim,
      Arg<AnyMemRef, "the right factor", [MemRead]>:$right,
      Variadic<Index>:$rightIndices, I64Attr:$rightDim,
      Index:$length);
  let results = (outs AnyTypeOf<[F32, F64]>:$result);
  let assemblyFormat = [{
    $left `[` $leftIndices `]` `along` $leftDim `,`
    $right `[` $rightIndices `]` `along` $rightDim `,`
    $length `from` $init attr-dict
    `:` type($left) `,` type($right) `,` type($result)
  }];
  let hasVerifier = 1;
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLOOPOPS_TD
