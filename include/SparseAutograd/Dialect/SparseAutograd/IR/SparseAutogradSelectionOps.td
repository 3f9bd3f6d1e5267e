//===- SparseAutogradSelectionOps.td - 2:4 selection -------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At most two of four neighbours are kept. What is kept, the *choice*, is a
// value of its own: derivatives save it, and never the tensor that it was made
// from.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSELECTIONOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSELECTIONOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

class SparseAutograd_SelectionOp<string mnemonic, list<Trait> traits = []>
    : SparseAutograd_Op<mnemonic, traits # [
        Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                        ["reifyResultShapes"]>]> {
  let hasVerifier = 1;
}

def SparseAutograd_Sparsify24Op : SparseAutograd_SelectionOp<"sparsify_24"> {
  let summary = "Select at most two of four neighbours (2:4 sparsity)";
  let description = [{
    For an input w of shape `B x M x N`, B any number of batch dimensions, a
    tensor of the same shape with w at the elements that are *kept* and +0 at
    the others, which are *pruned*: selected away, whatever stands there
    (semantics G1, T1 to T4).

    Elements are ranked by magnitude (T2): a NaN is above infinity, infinity
    above every number, -0.0 is a zero, and of equal ones that with the lowest
    index (of a tile in row-major order) is first. Groups of four lie along the
    last dimension, tiles of 4 x 4 along the last two, from index 0 on.

    | `select` | kept | source |
    | --- | --- | --- |
    | `row_wise` | the first two of each group | |
    | `greedy` | of each tile, from the first element to the last, each whose row and column keep less than two | xformers, `largest_abs_values_greedy` |
    | `optimal` | of each tile, the pattern of largest L1 norm among those that keep two in every row and column (90) | Hubara et al., Accelerated sparse neural training, 2021 |
    | `causal1122` | of each tile row by row, in order, the first 1, 1, 2 and 2 elements whose column keeps less than two | xformers, `causal1122` |

    The norms that `optimal` compares are sums in the accumulation type (G11) of
    two elements a row, then of rows 0 and 1 and rows 2 and 3; a pattern with
    more NaNs, or with as many and more infinities, is larger whatever the sums
    are. Of equal patterns that is taken which keeps the lowest index where two
    differ first.

    A zero is kept like any other element: a group of `row_wise` keeps two of
    four elements even if fewer are nonzero, and so does every row and column of
    an `optimal` tile. `greedy` may keep 7 elements of a tile, where what is left
    stands in full rows and columns, and `causal1122` keeps 6 at most; such a row
    or column keeps fewer than two, and nothing takes the place. At the edges of
    extents that are no multiple of four, a group or a tile is what there is of
    it; `optimal` then takes one of the patterns of at most two in each row and
    column that keep the most elements (T3).

    The gradient (T1), with m the kept elements and g the cotangent:

    | `gradient` | gradient of w |
    | --- | --- |
    | `dense` | select(m, g, 0) |
    | `sparse` | the same numbers: with a dense type it is dense |
    | `ste` | g, straight through |
    | `scaled<k, p>` | select(m, k g, p g); a factor 0 selects away, a factor 1 passes |

    Forward mode has the transpose of it: the tangent of the result is what the
    table makes of the tangent of w. The choice is not differentiated.

    With a second result the op is *transposable*: that is the first one with
    its last two dimensions exchanged, made of the same choice. The cotangents
    of both are added, transposed back, before the mode applies; either may be
    absent. `row_wise` has no second result: its transpose would not be 2:4.

    A result is dense, or stores what is selected: its encoding is then
    `structured[2, 4]` along the last dimension of that result, below dense
    levels in the order of dimensions. Storage is packed from the choice
    (`compress_24`), of both results in one pass over the input; what is selected
    of a constant is chosen and stored by the compiler. A stored result
    has no cotangents where it stores nothing, so that `gradient` is `dense` or
    `sparse`.

    Regularizers of the field are lines of arith on the result y: with
    `%d = w - y`, the pruned weights, masked decay is the gradient plus
    `lambda d`, and SR-STE that with `gradient = ste`.

    ```mlir
    %y = sparse_autograd.sparsify_24 %w select = row_wise gradient = ste
        : tensor<?x?xf32> -> tensor<?x?xf32>
    %z, %zt = sparse_autograd.sparsify_24 %w select = greedy
        gradient = scaled<1.0, 0.5>
        : tensor<8x12xbf16> -> tensor<8x12xbf16>, tensor<12x8xbf16>
    // Stored, with #Rows = #sparse_tensor.encoding<{map = (i, j) ->
    //   (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>.
    %p, %pt = sparse_autograd.sparsify_24 %w select = greedy gradient = sparse
        : tensor<8x12xbf16> -> tensor<8x12xbf16, #Rows>, tensor<12x8xbf16, #Rows>
    ```
  }];
  let arguments = (ins
    SparseAutograd_FloatTensor:$input,
    SparseAutograd_Selection24Attr:$select,
    SparseAutograd_SelectionGradientAttr:$gradient,
    OptionalAttr<DenseF64ArrayAttr>:$gradient_scales);
  let results = (outs SparseAutograd_FloatTensor:$result,
                      Optional<SparseAutograd_FloatTensor>:$transposed);
  let assemblyFormat = [{
    $input `select` `=` $select `gradient` `=`
    custom<SelectionGradient>($gradient, $gradient_scales) attr-dict
    `:` type($input) `->` type($result) (`,` type($transposed)^)?
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SparseAutograd_Sparsify24LikeOp
    : SparseAutograd_SelectionOp<"sparsify_24_like"> {
  let summary = "Select what a 2:4 selection keeps of another tensor";
  let description = [{
    The input at the elements that `select` keeps of `other`, and +0 elsewhere;
    see `sparsify_24`. Both have one shape; their element types may differ.

    If `other` is a result of `sparsify_24` with the same `select`, it uses the
    choice that was made there, once: selecting what has been selected keeps the
    same elements, ties and zeros included, wherever the tensor has passed since
    (a call, a loop). The input has the gradient that `gradient` says; `other`,
    of which only the choice is used, has none. The result may be stored, as
    that of `sparsify_24`.

    ```mlir
    // The cotangent of sparse activations, where these were kept.
    %s = sparse_autograd.sparsify_24_like %g, %y select = greedy gradient = dense
        : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins
    SparseAutograd_FloatTensor:$input,
    SparseAutograd_FloatTensor:$other,
    SparseAutograd_Selection24Attr:$select,
    SparseAutograd_SelectionGradientAttr:$gradient,
    OptionalAttr<DenseF64ArrayAttr>:$gradient_scales);
  let results = (outs SparseAutograd_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $other `select` `=` $select `gradient` `=`
    custom<SelectionGradient>($gradient, $gradient_scales) attr-dict
    `:` type($input) `,` type($other) `->` type($result)
  }];
  let hasCanonicalizer = 1;
}

def SparseAutograd_Choose24Op : SparseAutograd_SelectionOp<"choose_24"> {
  let summary = "What a 2:4 selection keeps, as bits";
  let description = [{
    The choice that `sparsify_24` makes of a tensor of shape `B x M x N`: a tensor
    of shape `B x ceil(M / 4) x ceil(N / 4)` whose elements have a bit for each
    element of a tile of 4 x 4, bit 4 r + c for row r and column c, which is 1
    where the element is kept. A bit outside of the tensor is 0.

    That is 2 bits for each of the elements that are kept, as the metadata of
    2:4 storage has (semantics T4), and says which of its slots are empty. It is
    what a derivative saves of a selection. It has no derivative.

    ```mlir
    %c = sparse_autograd.choose_24 %w select = greedy
        : tensor<10x16xf32> -> tensor<3x4xi16>
    ```
  }];
  let arguments = (ins SparseAutograd_FloatTensor:$input,
                       SparseAutograd_Selection24Attr:$select);
  let results = (outs SparseAutograd_ChoiceTensor:$result);
  let assemblyFormat = [{
    $input `select` `=` $select attr-dict `:` type($input) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input,
                   "::sparse_autograd::Selection24":$select)>
  ];
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The type of the choices of elements of a tensor of type `type`.
    static ::mlir::RankedTensorType
    getChoiceType(::mlir::RankedTensorType type);
  }];
}

def SparseAutograd_Mask24Op : SparseAutograd_SelectionOp<"mask_24"> {
  let summary = "The mask of a 2:4 choice";
  let description = [{
    A tensor that is true at the elements that `choice`, a result of `choose_24`,
    keeps. `extents` are the dynamic ones of the result, whose tiles the choice
    has. One of other extents is an error where these are static; one with too few
    tiles is an error at run time otherwise.

    ```mlir
    %m = sparse_autograd.mask_24 %c : tensor<3x4xi16> -> tensor<10x16xi1>
    %n = sparse_autograd.mask_24 %d, [%rows] : tensor<?x4xi16> -> tensor<?x16xi1>
    ```
  }];
  let arguments = (ins SparseAutograd_ChoiceTensor:$choice,
                       Variadic<Index>:$extents);
  let results = (outs SparseAutograd_MaskTensor:$result);
  let assemblyFormat = [{
    $choice (`,` `[` $extents^ `]`)? attr-dict
    `:` type($choice) `->` type($result)
  }];
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSELECTIONOPS_TD
