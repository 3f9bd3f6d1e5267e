//===- SparseAutogradLibraryOps.td - offers to a library --*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops by which a library of the device is asked for a product, and says whether
// it has computed it. Programs do not use them:
// `--sparse-autograd-offer-sparse-products` makes them. They exist on tensors
// and on buffers. Few passes know them, so that their classes are in a header of
// their own (LibraryOps.h).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLIBRARYOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLIBRARYOPS_TD

include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradStorageOps.td"

def SparseAutograd_OfferedList
    : SparseAutograd_ListOf<[Index, I32, I64], 1>;
def SparseAutograd_OfferedValues : SparseAutograd_ListOf<[F32, F64], 1>;
def SparseAutograd_OfferedMatrix : SparseAutograd_ListOf<[F32, F64], 2>;

/// The operands that both products have. `scale` is a number of the host.
class SparseAutograd_OfferOp<string mnemonic>
    : SparseAutograd_Op<mnemonic, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins F64:$scale, Index:$rows, Index:$columns,
                       SparseAutograd_OfferedList:$positions,
                       SparseAutograd_OfferedList:$coordinates,
                       SparseAutograd_OfferedValues:$values,
                       SparseAutograd_OfferedMatrix:$x,
                       SparseAutograd_OfferedMatrix:$y,
                       UnitAttr:$accumulates, UnitAttr:$x_transposed,
                       UnitAttr:$y_transposed);
  let results = (outs Variadic<AnyRankedTensor>:$results, I1:$is_done);
  let hasVerifier = 1;
}

def SparseAutograd_OfferProductOp : SparseAutograd_OfferOp<"offer_product"> {
  let summary = "Ask a library for a sparse matrix times a dense one";
  let description = [{
    Asks a library for x = scale * S y, or x = x + scale * S y if it
    `accumulates` (SpMM). S, of `rows` x `columns`, is stored by rows (CSR):
    `positions`, `coordinates` and `values`. `is_done` says whether the library
    has computed x. If it has not, the result is x as it was if the op
    `accumulates`, and has any elements if it does not. With `y_transposed` the
    columns of S are the second dimension of y.

    ```mlir
    %r, %done = sparse_autograd.offer_product %alpha * %m x %k
        ins(%p, %c, %v, %y : tensor<?xindex>, tensor<?xindex>, tensor<?xf32>, tensor<?x?xf32>)
        outs(%x : tensor<?x?xf32>) {accumulates} -> tensor<?x?xf32>
    ```
  }];
  let assemblyFormat = [{
    $scale `*` $rows `x` $columns
    `ins` `(` $positions `,` $coordinates `,` $values `,` $y `:`
    type($positions) `,` type($coordinates) `,` type($values) `,` type($y) `)`
    `outs` `(` $x `:` type($x) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getXMutable(); }
  }];
}

def SparseAutograd_OfferSampledProductOp
    : SparseAutograd_OfferOp<"offer_sampled_product"> {
  let summary = "Ask a library for a product of dense matrices at a pattern";
  let description = [{
    Asks a library for the elements of scale * x y that a sparse matrix of `rows`
    x `columns` stores, by rows (CSR), or for `values` and these if it
    `accumulates` (SDDMM): `values[p]` gets the element in the row that has entry
    p, in column `coordinates[p]`. The rest is as in `offer_product`. With
    `x_transposed` the rows are the second dimension of x, with `y_transposed` the
    columns are the first one of y.

    ```mlir
    %r, %done = sparse_autograd.offer_sampled_product %alpha * %m x %n
        ins(%p, %c, %x, %y : tensor<?xindex>, tensor<?xindex>, tensor<?x?xf32>, tensor<?x?xf32>)
        outs(%v : tensor<?xf32>) {y_transposed} -> tensor<?xf32>
    ```
  }];
  let assemblyFormat = [{
    $scale `*` $rows `x` $columns
    `ins` `(` $positions `,` $coordinates `,` $x `,` $y `:`
    type($positions) `,` type($coordinates) `,` type($x) `,` type($y) `)`
    `outs` `(` $values `:` type($values) `)` attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getValuesMutable();
    }
  }];
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADLIBRARYOPS_TD
