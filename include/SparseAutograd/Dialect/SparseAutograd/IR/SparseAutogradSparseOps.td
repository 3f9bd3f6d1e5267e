//===- SparseAutogradSparseOps.td - ops on sparse tensors --*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sparse tensor is a tensor with an encoding of the `sparse_tensor` dialect.
// Its *pattern* is the set of the elements that it stores, zeros included.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSPARSEOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSPARSEOPS_TD

include "mlir/Dialect/Linalg/IR/LinalgBase.td"
include "mlir/Dialect/Linalg/IR/LinalgEnums.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

def SparseAutograd_SparseTensor : Type<
    CPred<"::mlir::isa<::mlir::RankedTensorType>($_self) && "
          "::sparse_autograd::isSparse($_self)">,
    "tensor with an encoding of sparse_tensor", "::mlir::RankedTensorType">;

def SparseAutograd_PatternOp : SparseAutograd_Op<"pattern", [
    Pure, DeclareOpInterfaceMethods<InferTypeOpInterface,
                                    ["inferReturnTypes"]>]> {
  let summary = "Where a sparse tensor stores an element";
  let description = [{
    A mask with the encoding of `input`: true at every element that it stores,
    zeros included (semantics M3). It shares positions and coordinates with
    `input`. An absent element of a sparse tensor is a zero; to reduce over the
    stored ones only, mask with the pattern (semantics G4). In a blocked format
    (BSR) all elements of a stored block are stored.

    ```mlir
    %m = sparse_autograd.pattern %x : tensor<?x?xf64, #CSR>
    %s = sparse_autograd.masked_reduce max %x, %m dims = [1]
        : tensor<?x?xf64, #CSR>, tensor<?x?xi1, #CSR> -> tensor<?xf64>
    ```
  }];
  let arguments = (ins SparseAutograd_SparseTensor:$input);
  let results = (outs SparseAutograd_SparseTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasFolder = 1;
}

def SparseAutograd_ZerosOp : SparseAutograd_Op<"zeros", [Pure]> {
  let summary = "Zeros stored at the elements of a pattern";
  let description = [{
    A tensor with the encoding and the pattern of `pattern` that stores zeros.
    The values of `pattern` are not read; its elements may be of another type.
    It is what a sum on a pattern starts from.

    ```mlir
    %z = sparse_autograd.zeros %x : tensor<?x?xi1, #CSR> -> tensor<?x?xf64, #CSR>
    ```
  }];
  let arguments = (ins SparseAutograd_SparseTensor:$pattern);
  let results = (outs SparseAutograd_SparseTensor:$result);
  let assemblyFormat = "$pattern attr-dict `:` type($pattern) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def SparseAutograd_StoredValuesOp : SparseAutograd_Op<"stored_values", [Pure]> {
  let summary = "What a sparse tensor stores, as a list";
  let description = [{
    The values that `input` stores, zeros included, in the order in which it
    stores them. With `with_values` it takes a sparse tensor apart and puts it
    together: a loop keeps the values of each iteration and the pattern once.

    ```mlir
    %v = sparse_autograd.stored_values %x : tensor<?x?xf64, #CSR> -> tensor<?xf64>
    ```
  }];
  let arguments = (ins SparseAutograd_SparseTensor:$input);
  let results = (outs 1DTensorOf<[AnyType]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def SparseAutograd_StoredCoordinatesOp
    : SparseAutograd_Op<"stored_coordinates", [Pure]> {
  let summary = "The coordinates of one level of a sparse tensor, as a list";
  let description = [{
    The coordinates that `input` stores at level `level`, in the order in which
    it stores them: of a coordinate list (COO) one for each stored value, so
    that the levels together with `stored_values` are a list of triplets; of a
    row-sparse tensor the rows that it stores. A level without coordinates, a
    dense one, is an error.

    ```mlir
    %users = sparse_autograd.stored_coordinates %ratings {level = 0 : index}
        : tensor<?x?xf64, #COO> -> tensor<?xindex>
    ```
  }];
  let arguments = (ins SparseAutograd_SparseTensor:$input, IndexAttr:$level);
  let results = (outs 1DTensorOf<[Index]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def SparseAutograd_WithValuesOp : SparseAutograd_Op<"with_values", [Pure]> {
  let summary = "A sparse tensor of a pattern and a list of values";
  let description = [{
    A tensor with the encoding and the pattern of `pattern` that stores
    `values`, in the order in which `pattern` stores its own, which are not
    read. Both lists have the same length.

    ```mlir
    %y = sparse_autograd.with_values %v, %x
        : tensor<?xf64>, tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
    ```
  }];
  let arguments = (ins 1DTensorOf<[AnyType]>:$values,
                       SparseAutograd_SparseTensor:$pattern);
  let results = (outs SparseAutograd_SparseTensor:$result);
  let assemblyFormat = [{
    $values `,` $pattern attr-dict
    `:` type($values) `,` type($pattern) `->` type($result)
  }];
  let hasVerifier = 1;
}

def SparseAutograd_SampleOp : SparseAutograd_Op<"sample", [Pure]> {
  let summary = "The elements of a tensor at a pattern";
  let description = [{
    A tensor with the encoding and the pattern of `pattern` whose stored values
    are those of `input` (semantics S2). The values of `pattern` are not read.

    A sample of a product is a sampled product (SDDMM): the elements at the
    pattern are computed, and nothing else. With cotangent g on the pattern, the
    gradients of X and Y in sample(X Y^T) are g Y and g^T X.

    ```mlir
    %w = sparse_autograd.sample %scores, %p
        : tensor<?x?xf64>, tensor<?x?xi1, #CSR> -> tensor<?x?xf64, #CSR>
    ```
  }];
  let arguments = (ins SparseAutograd_FloatTensor:$input,
                       SparseAutograd_SparseTensor:$pattern);
  let results = (outs SparseAutograd_SparseTensor:$result);
  let assemblyFormat = [{
    $input `,` $pattern attr-dict
    `:` type($input) `,` type($pattern) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def SparseAutograd_SampledGenericOp : SparseAutograd_Op<"sampled_generic", [
    SingleBlockImplicitTerminator<"::mlir::linalg::YieldOp">,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    RecursiveMemoryEffects, DestinationStyleOpInterface,
    LinalgStructuredInterface]> {
  let summary = "A linalg.generic on the pattern of its destination";
  let description = [{
    Computes what a `linalg.generic` with the same maps, iterator types and
    region computes, at the elements that `init` stores and nowhere else: the
    result has the pattern of `init`, and its values start at those of `init`.
    A loop that is the index of one dimension of `init`, and of no other, is
    parallel; the others are reductions, the loop of a diagonal among them. What
    an operand does not store is zero there.

    The gradient of a sparse operand is one: for C = A B with cotangent G of C,
    the gradient of A is G B^T on the pattern of A (semantics S1, G5), in memory
    of its size.

    ```mlir
    %z = sparse_autograd.zeros %a : tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
    %da = sparse_autograd.sampled_generic {
          indexing_maps = [affine_map<(i, k, j) -> (i, j)>,
                           affine_map<(i, k, j) -> (k, j)>,
                           affine_map<(i, k, j) -> (i, k)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%g, %b : tensor<?x?xf64>, tensor<?x?xf64>)
        outs(%z : tensor<?x?xf64, #CSR>) {
    ^bb0(%gij: f64, %bkj: f64, %sum: f64):
      %term = arith.mulf %gij, %bkj : f64
      %next = arith.addf %sum, %term : f64
      linalg.yield %next : f64
    } -> tensor<?x?xf64, #CSR>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs,
                       SparseAutograd_SparseTensor:$init,
                       AffineMapArrayAttr:$indexing_maps,
                       IteratorTypeArrayAttr:$iterator_types);
  let results = (outs SparseAutograd_SparseTensor:$result);
  let regions = (region AnyRegion:$region);
  let assemblyFormat = [{
    custom<StructuredLoops>($indexing_maps, $iterator_types)
    (`ins` `(` $inputs^ `:` type($inputs) `)`)?
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword
    $region `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$inputs, "::mlir::Value":$init,
                   "::llvm::ArrayRef<::mlir::AffineMap>":$indexingMaps,
                   "::llvm::ArrayRef<::mlir::utils::IteratorType>":$iteratorTypes,
                   CArg<"::llvm::function_ref<void(::mlir::OpBuilder &, "
                        "::mlir::Location, ::mlir::ValueRange)>",
                        "nullptr">:$buildBody)>
  ];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The only block of the region.
    ::mlir::Block *getBody() { return &getRegion().front(); }

    // LinalgOp.
    bool hasIndexSemantics();
    std::string getLibraryCallName();
    static std::function<void(::mlir::ImplicitLocOpBuilder &, ::mlir::Block &,
                              ::llvm::ArrayRef<::mlir::NamedAttribute>,
                              ::llvm::function_ref<::mlir::InFlightDiagnostic()>)>
    getRegionBuilder() {
      return nullptr;
    }
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADSPARSEOPS_TD
