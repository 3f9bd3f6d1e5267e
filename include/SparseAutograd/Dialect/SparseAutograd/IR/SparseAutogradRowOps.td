//===- SparseAutogradRowOps.td - rows of tables ------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table is read a few rows at a time. What is added to it is *row-sparse*: a
// tensor that stores some rows, each as a whole.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADROWOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADROWOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

def SparseAutograd_IndexTensor
    : RankedTensorOf<[AnySignlessInteger, Index]>;
def SparseAutograd_RowSparseTensor : Type<
    CPred<"::sparse_autograd::isRowSparse($_self)">,
    "tensor that stores some rows as a whole: its encoding is "
    "(d0, ...) -> (d0 : compressed, ... : dense)",
    "::mlir::RankedTensorType">;

def SparseAutograd_GatherOp : SparseAutograd_Op<"gather", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "The rows of a table that a list of indices names";
  let description = [{
    For indices of shape `I` and a table of shape `N x R`, a tensor of shape
    `I x R`: at `i` stands row `indices[i]` of the table (an embedding;
    semantics S7). An index that is negative or not less than N is an error at
    run time. The table is dense or row-sparse; a row that it does not store is
    zero.

    The gradient of the table is dense, like the table, unless the op that asks
    for it states a row-sparse type: then it stores the rows that were read,
    each once and in order, and nothing has the size of the table.

    ```mlir
    #rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

    func.func private @loss(%table: tensor<?x16xf32>, %words: tensor<64xi32>) -> f32 {
      %x = sparse_autograd.gather %table, %words
          : tensor<?x16xf32>, tensor<64xi32> -> tensor<64x16xf32>
      // ...
    }
    %l, %dt = sparse_autograd.value_and_grad @loss(%table, %words) {wrt = [0]}
        : (tensor<?x16xf32>, tensor<64xi32>) -> (f32, tensor<?x16xf32, #rows>)
    ```
  }];
  let arguments = (ins SparseAutograd_FloatTensor:$table,
                       SparseAutograd_IndexTensor:$indices);
  let results = (outs SparseAutograd_FloatTensor:$result);
  let assemblyFormat = [{
    $table `,` $indices attr-dict
    `:` type($table) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def SparseAutograd_ScatterRowsOp : SparseAutograd_Op<"scatter_rows", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "Sums of rows, each at its place in a row-sparse tensor";
  let description = [{
    The transpose of `gather`: for indices of shape `I` and rows of shape
    `I x R`, a tensor of shape `extent x R` whose row `r` is the sum of the rows
    whose index is `r`, in the order of the list. It stores the rows that
    `indices` names, sorted, each once. An index that is negative or not less
    than `extent` is an error at run time. f16 and bf16 are summed in f32 and
    rounded once (semantics G11).

    ```mlir
    %g = sparse_autograd.scatter_rows %rows, %words, %extent
        : tensor<64x16xf32>, tensor<64xi32> -> tensor<?x16xf32, #rows>
    ```
  }];
  let arguments = (ins SparseAutograd_FloatTensor:$rows,
                       SparseAutograd_IndexTensor:$indices,
                       Index:$extent);
  let results = (outs SparseAutograd_RowSparseTensor:$result);
  let assemblyFormat = [{
    $rows `,` $indices `,` $extent attr-dict
    `:` type($rows) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def SparseAutograd_AccumulateOp : SparseAutograd_Op<"accumulate", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "The sum of tensors in whatever formats they have";
  let description = [{
    Adds tensors of one shape, element by element in the order of the operands
    (semantics S8). A sparse result stores what one of the operands stores; all
    of them are listed together and stored once. A dense result starts from the
    first dense operand, if there is one, and adds what the sparse ones store:
    with nobody else reading it, that operand is updated in place. A sparse
    result of a dense operand is an error: convert it first.

    ```mlir
    // Row-sparse Adam writes to the rows of its moments that have a gradient.
    %next = sparse_autograd.accumulate %moment, %change
        : tensor<?x16xf32>, tensor<?x16xf32, #rows> -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins Variadic<SparseAutograd_FloatTensor>:$inputs);
  let results = (outs SparseAutograd_FloatTensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADROWOPS_TD
