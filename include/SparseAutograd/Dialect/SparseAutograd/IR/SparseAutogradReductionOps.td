//===- SparseAutogradReductionOps.td - masked reductions ---*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADREDUCTIONOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADREDUCTIONOPS_TD

include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/Dialect/Arith/IR/ArithOpsInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"
include "SparseAutograd/Interfaces/MaskOpInterface.td"

def SparseAutograd_MaskedReduceOp : SparseAutograd_Op<"masked_reduce", [
    Pure, DeclareOpInterfaceMethods<MaskOpInterface>,
    DeclareOpInterfaceMethods<ArithFastMathInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "Reduce the selected elements along some dimensions";
  let description = [{
    Reduces `input` along the dimensions `dims` over the elements that `mask`
    selects. The mask ranges over the dimensions of the input that `mask_dims`
    lists (all of them by default); without a mask every element is selected.
    With `keepdims` the reduced dimensions stay, with extent 1.

    With n the number of selected elements of a slice (semantics R1 to R8):

    | kind | value | empty slice | gradient on a selected x, cotangent g |
    | --- | --- | --- | --- |
    | `sum` | sum of x | 0 | g |
    | `mean` | sum of x / n | 0, NaN with `empty = nan` | g / n |
    | `max`, `min` | extremum | -inf, +inf | g / t among the t elements that attain it; all of g to the first with `ties = first` |
    | `prod` | product of x | 1 | g times the product of the others |
    | `var` | sum of (x - mean)^2 / (n - ddof) | 0 where n <= ddof | 2 g (x - mean) / (n - ddof) |
    | `std` | sqrt(var) | 0 | that of var / (2 std), 0 where std is 0 |
    | `norm2` | sqrt(sum of x^2) | 0 | g x / norm, 0 where the norm is 0 |
    | `logsumexp` | log(sum of exp(x)) | -inf | g exp(x - y); 0 where y is -inf; shared among the +inf where y is +inf |

    A selected NaN is the result of `max` and `min`, and then the ties are the
    NaNs. f16 and bf16 accumulate in f32 and round once; f32 and f64 accumulate
    in their own type (semantics G11).

    The op does not broadcast: a mask of another extent is an error, at compile
    time where the extents are static, at run time otherwise.

    ```mlir
    %loss = sparse_autograd.masked_reduce mean %error, %observed dims = [0, 1]
        : tensor<?x?xf64>, tensor<?x?xi1> -> tensor<f64>
    %peak = sparse_autograd.masked_reduce max %x, %rows dims = [1] mask_dims = [0]
        keepdims ties = first
        : tensor<4x8xf32>, tensor<4xi1> -> tensor<4x1xf32>
    ```
  }];
  let arguments = (ins
    SparseAutograd_ReductionKindAttr:$kind,
    SparseAutograd_FloatTensor:$input,
    Optional<SparseAutograd_MaskTensor>:$mask,
    DenseI64ArrayAttr:$dims,
    OptionalAttr<DenseI64ArrayAttr>:$mask_dims,
    UnitAttr:$keepdims,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$ddof,
    DefaultValuedAttr<SparseAutograd_EmptyValueAttr, "EmptyValue::Default">:$empty,
    DefaultValuedAttr<SparseAutograd_TiesAttr, "Ties::Shared">:$ties,
    DefaultValuedAttr<Arith_FastMathAttr, "::mlir::arith::FastMathFlags::none">:$fastmath);
  let results = (outs SparseAutograd_FloatTensor:$result);
  let assemblyFormat = [{
    `` $kind $input (`,` $mask^)? `dims` `=` $dims (`mask_dims` `=` $mask_dims^)?
    (`keepdims` $keepdims^)? (`ddof` `=` $ddof^)? (`empty` `=` $empty^)?
    (`ties` `=` $ties^)? (`fastmath` `` $fastmath^)? attr-dict
    `:` type($input) (`,` type($mask)^)? `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "ReductionKind":$kind, "::mlir::Value":$input,
                   "::mlir::Value":$mask, "::llvm::ArrayRef<int64_t>":$dims,
                   CArg<"::llvm::ArrayRef<int64_t>", "{}">:$maskDims,
                   CArg<"bool", "false">:$keepdims)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The type of the reduction of `input` along `dims`.
    static ::mlir::RankedTensorType
    inferResultType(::mlir::RankedTensorType input,
                    ::llvm::ArrayRef<int64_t> dims, bool keepdims);
    /// Whether dimension `dim` of the input is reduced.
    bool isReduced(int64_t dim) {
      return ::llvm::is_contained(getDims(), dim);
    }
  }];
}

class SparseAutograd_MaskedSoftmaxLikeOp<string mnemonic>
    : SparseAutograd_Op<mnemonic, [
        Pure, DeclareOpInterfaceMethods<MaskOpInterface>,
        DeclareOpInterfaceMethods<ArithFastMathInterface>,
        AllTypesMatch<["input", "result"]>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let arguments = (ins
    SparseAutograd_FloatTensor:$input,
    Optional<SparseAutograd_MaskTensor>:$mask,
    DenseI64ArrayAttr:$dims,
    OptionalAttr<DenseI64ArrayAttr>:$mask_dims,
    DefaultValuedAttr<Arith_FastMathAttr, "::mlir::arith::FastMathFlags::none">:$fastmath);
  let results = (outs SparseAutograd_FloatTensor:$result);
  let assemblyFormat = [{
    $input (`,` $mask^)? `dims` `=` $dims
    (`mask_dims` `=` $mask_dims^)? (`fastmath` `` $fastmath^)? attr-dict
    `:` type($input) (`,` type($mask)^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$mask,
                   "::llvm::ArrayRef<int64_t>":$dims,
                   CArg<"::llvm::ArrayRef<int64_t>", "{}">:$maskDims)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SparseAutograd_MaskedSoftmaxOp
    : SparseAutograd_MaskedSoftmaxLikeOp<"masked_softmax"> {
  let summary = "Normalised exponentials of the selected elements";
  let description = [{
    exp(x - max) / sum of exp(x - max), over the selected elements of each slice
    along `dims` (semantics R9). An element that is not selected is 0; a slice
    that selects nothing is all 0. The gradient is y (g - sum of y g), where
    only the result y is kept. A selected NaN makes the selected elements of its
    slice NaN, as does a maximum of +inf, or of -inf where something is selected.

    ```mlir
    %p = sparse_autograd.masked_softmax %scores, %allowed dims = [1]
        : tensor<?x?xf32>, tensor<?x?xi1>
    ```
  }];
}

def SparseAutograd_MaskedLogSoftmaxOp
    : SparseAutograd_MaskedSoftmaxLikeOp<"masked_log_softmax"> {
  let summary = "Logarithms of the softmax of the selected elements";
  let description = [{
    x - logsumexp(x), over the selected elements of each slice along `dims`
    (semantics R10). An element that is not selected is 0, whatever the slice,
    and a slice that selects nothing is all 0. An infinite maximum or a NaN makes
    the selected elements NaN, as in the softmax. The gradient on a selected
    element is g - exp(y) times the sum of g over the selected elements.

    ```mlir
    %logp = sparse_autograd.masked_log_softmax %scores, %allowed dims = [1]
        : tensor<?x?xf32>, tensor<?x?xi1>
    ```
  }];
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADREDUCTIONOPS_TD
