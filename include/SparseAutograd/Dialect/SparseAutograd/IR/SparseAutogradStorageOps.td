//===- SparseAutogradStorageOps.td - storage from entries --*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that number entries, and that make the positions and the coordinates of a
// sparse tensor from a list of them, in any order and with repetitions.
// Programs do not use them: `--sparse-autograd-lower-sparse` makes them where a
// pattern is a new one. They exist on tensors and on buffers. So do those that
// have a library store the product of two sparse matrices.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSTORAGEOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSTORAGEOPS_TD

include "mlir/Dialect/SparseTensor/IR/SparseTensorAttrDefs.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

class SparseAutograd_ListOf<list<Type> types, int rank>
    : AnyTypeOf<[TensorRankOf<types, [rank]>, MemRefRankOf<types, [rank]>]>;
def SparseAutograd_Coordinates : SparseAutograd_ListOf<[Index], 2>;
def SparseAutograd_IndexList : SparseAutograd_ListOf<[Index], 1>;

class SparseAutograd_StorageOp<string mnemonic, list<Trait> traits = []>
    : SparseAutograd_Op<mnemonic, !listconcat([
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
}

def SparseAutograd_CountBeforeOp : SparseAutograd_StorageOp<"count_before"> {
  let summary = "How many there are before each";
  let description = [{
    Writes to `before`, which has an element more than `counts`, the sum of the
    counts before each: `before[i] = counts[0] + ... + counts[i - 1]`. The last
    one is the sum of all.

    ```mlir
    %b = sparse_autograd.count_before ins(%n : tensor<?xindex>)
        outs(%e : tensor<?xindex>) -> tensor<?xindex>
    ```
  }];
  let arguments = (ins SparseAutograd_IndexList:$counts,
                       SparseAutograd_IndexList:$before);
  let assemblyFormat = [{
    `ins` `(` $counts `:` type($counts) `)`
    `outs` `(` $before `:` type($before) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getBeforeMutable();
    }
  }];
}

def SparseAutograd_SortEntriesOp : SparseAutograd_StorageOp<"sort_entries"> {
  let summary = "The order of the entries of a sparse tensor";
  let description = [{
    Writes to `order` the permutation that sorts the rows of `coordinates`, an
    entry each, in lexicographic order; equal ones stay in their order.

    ```mlir
    %o = sparse_autograd.sort_entries ins(%c : tensor<?x2xindex>)
        outs(%e : tensor<?xindex>) -> tensor<?xindex>
    ```
  }];
  let arguments = (ins SparseAutograd_Coordinates:$coordinates,
                       SparseAutograd_IndexList:$order);
  let assemblyFormat = [{
    `ins` `(` $coordinates `:` type($coordinates) `)`
    `outs` `(` $order `:` type($order) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getOrderMutable();
    }
  }];
}

def SparseAutograd_CountPositionsOp
    : SparseAutograd_StorageOp<"count_positions"> {
  let summary = "How many elements each level of a sparse tensor has";
  let description = [{
    Writes to `counts`, one number a level, how many elements each level of
    `encoding` has when the entries are stored, equal ones once. `coordinates`
    has a column for each level, `order` sorts its rows, `extents` are those of
    the levels.

    ```mlir
    %n = sparse_autograd.count_positions #CSR
        ins(%c, %o, %rows, %columns : tensor<?x2xindex>, tensor<?xindex>, index, index)
        outs(%e : tensor<2xindex>) -> tensor<2xindex>
    ```
  }];
  let arguments = (ins SparseTensorEncodingAttr:$encoding,
                       SparseAutograd_Coordinates:$coordinates,
                       SparseAutograd_IndexList:$order,
                       Variadic<Index>:$extents,
                       SparseAutograd_IndexList:$counts);
  let assemblyFormat = [{
    $encoding `ins` `(` $coordinates `,` $order `,` $extents `:`
    type($coordinates) `,` type($order) `,` type($extents) `)`
    `outs` `(` $counts `:` type($counts) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getCountsMutable();
    }
  }];
  let hasVerifier = 1;
}

def SparseAutograd_StorePositionsOp
    : SparseAutograd_StorageOp<"store_positions", [AttrSizedOperandSegments]> {
  let summary = "The positions and coordinates of a sparse tensor";
  let description = [{
    Fills `lists`: the positions and the coordinates of each level of `encoding`
    that has them, in the order of levels, of the lengths that `count_positions`
    tells; and last, for each entry, which of the stored values is its own.
    `order` sorts the entries. A number that does not fit the width of positions
    or coordinates is an error at run time.

    ```mlir
    %p, %q, %s = sparse_autograd.store_positions #CSR
        ins(%c, %o, %rows, %columns : tensor<?x2xindex>, tensor<?xindex>, index, index)
        outs(%pe, %qe, %se : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>)
        -> tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
    ```
  }];
  let arguments = (ins SparseTensorEncodingAttr:$encoding,
                       SparseAutograd_Coordinates:$coordinates,
                       SparseAutograd_IndexList:$order,
                       Variadic<Index>:$extents,
                       Variadic<SparseAutograd_ListOf<[AnyInteger, Index], 1>>:$lists);
  let assemblyFormat = [{
    $encoding `ins` `(` $coordinates `,` $order `,` $extents `:`
    type($coordinates) `,` type($order) `,` type($extents) `)`
    `outs` `(` $lists `:` type($lists) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getListsMutable();
    }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products by a library
//===----------------------------------------------------------------------===//

def SparseAutograd_ComponentList
    : SparseAutograd_ListOf<[Index, I32, I64, F32, F64], 1>;

def SparseAutograd_BeginSparseProductOp
    : SparseAutograd_Op<"begin_sparse_product", [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Ask a library for the product of two sparse matrices";
  let description = [{
    Asks a library for the product A B (SpGEMM) of an A of `rows` rows and `inner`
    columns and a B of `columns` columns. `factors` are the positions, the
    coordinates and the values of A, then those of B, both stored by rows (CSR).
    `stored` is how many entries the product has, which the next
    `end_sparse_product` stores; or -1 if the library is missing or has no such
    product, which the program computes then.

    ```mlir
    %n = sparse_autograd.begin_sparse_product %m x %k x %l
        ins(%ap, %ac, %av, %bp, %bc, %bv : tensor<?xindex>, tensor<?xindex>, tensor<?xf32>,
                                           tensor<?xindex>, tensor<?xindex>, tensor<?xf32>)
    ```
  }];
  let arguments = (ins Index:$rows, Index:$inner, Index:$columns,
                       Variadic<SparseAutograd_ComponentList>:$factors);
  let results = (outs Index:$stored);
  let assemblyFormat = [{
    $rows `x` $inner `x` $columns
    `ins` `(` $factors `:` type($factors) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def SparseAutograd_EndSparseProductOp
    : SparseAutograd_StorageOp<"end_sparse_product", [AttrSizedOperandSegments]> {
  let summary = "Store the product that a library has computed";
  let description = [{
    Fills `lists`, the positions, the coordinates and the values of the product
    that the last `begin_sparse_product` has found entries of, stored by rows
    (CSR), the coordinates of a row in order. `factors` are the same as there: the
    library may read them again.

    ```mlir
    %p, %c, %v = sparse_autograd.end_sparse_product
        ins(%ap, %ac, %av, %bp, %bc, %bv : tensor<?xindex>, tensor<?xindex>, tensor<?xf32>,
                                           tensor<?xindex>, tensor<?xindex>, tensor<?xf32>)
        outs(%pe, %ce, %ve : tensor<?xindex>, tensor<?xindex>, tensor<?xf32>)
        -> tensor<?xindex>, tensor<?xindex>, tensor<?xf32>
    ```
  }];
  let arguments = (ins Variadic<SparseAutograd_ComponentList>:$factors,
                       Variadic<SparseAutograd_ComponentList>:$lists);
  let assemblyFormat = [{
    `ins` `(` $factors `:` type($factors) `)`
    `outs` `(` $lists `:` type($lists) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getListsMutable();
    }
  }];
  let hasVerifier = 1;
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSTORAGEOPS_TD
