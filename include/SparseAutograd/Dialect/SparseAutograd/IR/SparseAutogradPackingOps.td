//===- SparseAutogradPackingOps.td - 2:4 storage -----------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dense tensor, and a choice of its elements, make a tensor that stores two of
// each four (`compress_24`). `--sparse-autograd-lower-sparse` makes an op on
// lists of it (`pack_24`), and of products with such a tensor (`multiply_24`);
// these two exist on tensors and on buffers, and become calls of the runtime.
// Their classes are in Packing24.h, apart from the other ops.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADPACKINGOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADPACKINGOPS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

def SparseAutograd_Packed24Tensor : Type<
    CPred<"::mlir::isa<::mlir::RankedTensorType>($_self) && "
          "::sparse_autograd::isPacked24("
          "::mlir::cast<::mlir::RankedTensorType>($_self))">,
    "tensor that stores two of four elements along its last dimension",
    "::mlir::RankedTensorType">;

def SparseAutograd_Compress24Op : SparseAutograd_Op<"compress_24", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "Store two of each four elements of a dense tensor";
  let description = [{
    The elements of `input`, of shape `B x M x N`, that `choice` keeps
    (`choose_24`), stored as `structured[2, 4]` along the last dimension of the
    result: `(..., i, j) -> (... : dense, i : dense, j floordiv 4 : dense,
    j mod 4 : structured[2, 4])`. With `transposed` the result is that of the
    transposed matrices, `B x N x M`, which the choice must be one for, as those
    of `greedy`, `optimal` and `causal1122` are. `both_orders` says that it is, so
    that a product may read what it needs in the other order.

    Without a choice, and then of any rank, the elements that are not zero are
    stored; a group with more than two is an error at run time. A conversion to
    2:4 storage (`sparse_tensor.convert`) becomes such an op.

    A group of which the choice keeps fewer than two stores zeros beside
    (semantics T2, stored groups). What is stored is packed as it is read: neither
    sorted nor listed. It has no derivative of its own: `sparsify_24` has.

    ```mlir
    %c = sparse_autograd.choose_24 %w select = greedy
        : tensor<8x12xf32> -> tensor<2x3xi16>
    %y = sparse_autograd.compress_24 %w by %c
        : tensor<8x12xf32>, tensor<2x3xi16> -> tensor<8x12xf32, #Rows>
    %t = sparse_autograd.compress_24 %w by %c transposed
        : tensor<8x12xf32>, tensor<2x3xi16> -> tensor<12x8xf32, #Rows>
    %n = sparse_autograd.compress_24 %w : tensor<8x12xf32> -> tensor<8x12xf32, #Rows>
    ```
  }];
  let arguments = (ins SparseAutograd_FloatTensor:$input,
                       Optional<SparseAutograd_ChoiceTensor>:$choice,
                       UnitAttr:$transposed, UnitAttr:$both_orders);
  let results = (outs SparseAutograd_Packed24Tensor:$result);
  let assemblyFormat = [{
    $input (`by` $choice^)? (`transposed` $transposed^)? attr-dict
    `:` type($input) (`,` type($choice)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

class SparseAutograd_PackingOp<string mnemonic, list<Trait> traits = []>
    : SparseAutograd_Op<mnemonic, !listconcat([
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}
def SparseAutograd_FloatArray
    : AnyTypeOf<[RankedTensorOf<[F16, BF16, F32, F64]>,
                 MemRefOf<[F16, BF16, F32, F64]>]>;
def SparseAutograd_ChoiceArray
    : AnyTypeOf<[RankedTensorOf<[I16]>, MemRefOf<[I16]>]>;
def SparseAutograd_FloatList
    : AnyTypeOf<[TensorRankOf<[F16, BF16, F32, F64], [1]>,
                 MemRefRankOf<[F16, BF16, F32, F64], [1]>]>;

def SparseAutograd_Pack24Op : SparseAutograd_PackingOp<"pack_24", [AttrSizedOperandSegments]> {
  let summary = "Values and coordinates of 2:4 storage from dense matrices";
  let description = [{
    Fills `values` and `coordinates`, the lists of a tensor that stores two of
    each four elements along the last dimension, with the elements of `input`
    that `choice` keeps; without a choice, with those that are not zero, of which
    a group with more than two is an error at run time that names `level`, the
    group and its row. `orders` says of each pair of lists whether it is that of
    the transposed matrices: with both the input is read once.

    ```mlir
    %v, %c = sparse_autograd.pack_24 ins(%x, %choice : tensor<8x12xf32>, tensor<2x3xi16>)
        outs(%ve, %ce : tensor<?xf32>, tensor<?xi8>) orders = [false]
        -> tensor<?xf32>, tensor<?xi8>
    ```
  }];
  let arguments = (ins SparseAutograd_FloatArray:$input,
                       Optional<SparseAutograd_ChoiceArray>:$choice,
                       Variadic<AnyType>:$lists,
                       DenseBoolArrayAttr:$orders,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$level);
  let assemblyFormat = [{
    `ins` `(` $input (`,` $choice^)? `:` type($input) (`,` type($choice)^)? `)`
    `outs` `(` $lists `:` type($lists) `)` `orders` `=` $orders attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getListsMutable();
    }
  }];
}

def SparseAutograd_Multiply24Op
    : SparseAutograd_PackingOp<"multiply_24"> {
  let summary = "Product with a matrix that stores two of four elements";
  let description = [{
    Adds to `sum` the product W B of a W of `rows` x `terms` elements, given by
    the lists of its values and its coordinates, and a dense B of `terms` x n
    elements; with `is_transposed` W^T B, for a B of `rows` x n elements.
    `dense_transposed` says that the operand `dense` has n as its first
    dimension, `sum_transposed` the same of the sum. `strategy` is how the
    runtime computes it: 0, as its model of costs says; 1, by what is stored; 2,
    as a dense product of expanded rows.

    ```mlir
    %y = sparse_autograd.multiply_24 %m x %k
        ins(%v, %c, %b : tensor<?xf32>, tensor<?xi8>, tensor<?x?xf32>)
        outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Index:$rows, Index:$terms,
                       SparseAutograd_FloatList:$values,
                       SparseAutograd_ByteList:$coordinates,
                       SparseAutograd_FloatArray:$dense,
                       SparseAutograd_FloatArray:$sum,
                       UnitAttr:$is_transposed, UnitAttr:$dense_transposed,
                       UnitAttr:$sum_transposed,
                       DefaultValuedOptionalAttr<I64Attr, "0">:$strategy);
  let assemblyFormat = [{
    $rows `x` $terms `ins` `(` $values `,` $coordinates `,` $dense `:`
    type($values) `,` type($coordinates) `,` type($dense) `)`
    `outs` `(` $sum `:` type($sum) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getSumMutable();
    }
  }];
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADPACKINGOPS_TD
