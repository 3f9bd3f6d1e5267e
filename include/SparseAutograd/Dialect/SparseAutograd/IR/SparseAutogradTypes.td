//===- SparseAutogradTypes.td - type constraints, attributes *- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADTYPES_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/EnumAttr.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradDialect.td"

// The floats that the dialect computes in. Complex numbers and the 8-bit
// floats are refused (semantics G13).
def SparseAutograd_Float : AnyTypeOf<[F16, BF16, F32, F64],
                                     "f16, bf16, f32 or f64">;
def SparseAutograd_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def SparseAutograd_FloatLike
    : AnyTypeOf<[SparseAutograd_Float, SparseAutograd_FloatTensor],
                "f16, bf16, f32 or f64, or a ranked tensor of them">;
def SparseAutograd_MaskTensor : RankedTensorOf<[I1]>;
// What a 2:4 selection keeps: 16 bits for a tile of 4 x 4 elements.
def SparseAutograd_ChoiceTensor : RankedTensorOf<[I16]>;

def SparseAutograd_ReductionKind : I32EnumAttr<
    "ReductionKind", "what a masked reduction computes", [
      I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">,
      I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
      I32EnumAttrCase<"Prod", 4, "prod">, I32EnumAttrCase<"Var", 5, "var">,
      I32EnumAttrCase<"Std", 6, "std">, I32EnumAttrCase<"Norm2", 7, "norm2">,
      I32EnumAttrCase<"LogSumExp", 8, "logsumexp">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::sparse_autograd";
}
def SparseAutograd_ReductionKindAttr
    : EnumAttr<SparseAutogradDialect, SparseAutograd_ReductionKind, "kind">;

def SparseAutograd_EmptyValue : I32EnumAttr<
    "EmptyValue", "the value of a slice that selects nothing", [
      I32EnumAttrCase<"Default", 0, "default">,
      I32EnumAttrCase<"NaN", 1, "nan">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::sparse_autograd";
}
def SparseAutograd_EmptyValueAttr
    : EnumAttr<SparseAutogradDialect, SparseAutograd_EmptyValue, "empty">;

def SparseAutograd_Ties : I32EnumAttr<
    "Ties", "who receives the gradient of an extremum that several attain", [
      I32EnumAttrCase<"Shared", 0, "shared">,
      I32EnumAttrCase<"First", 1, "first">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::sparse_autograd";
}
def SparseAutograd_TiesAttr
    : EnumAttr<SparseAutogradDialect, SparseAutograd_Ties, "ties">;

def SparseAutograd_Distribution : I32EnumAttr<
    "Distribution", "a distribution of random numbers", [
      I32EnumAttrCase<"Uniform", 0, "uniform">,
      I32EnumAttrCase<"Normal", 1, "normal">,
      I32EnumAttrCase<"Bernoulli", 2, "bernoulli">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::sparse_autograd";
}
def SparseAutograd_DistributionAttr
    : EnumAttr<SparseAutogradDialect, SparseAutograd_Distribution,
               "distribution">;

// A list of coordinates of 2:4 storage, each byte of which has two groups.
def SparseAutograd_ByteList
    : AnyTypeOf<[TensorRankOf<[I8], [1]>, MemRefRankOf<[I8], [1]>]>;

def SparseAutograd_Selection24 : I32EnumAttr<
    "Selection24", "how two of four elements are chosen", [
      I32EnumAttrCase<"Greedy", 0, "greedy">,
      I32EnumAttrCase<"Optimal", 1, "optimal">,
      I32EnumAttrCase<"RowWise", 2, "row_wise">,
      I32EnumAttrCase<"Causal1122", 3, "causal1122">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::sparse_autograd";
}
def SparseAutograd_Selection24Attr
    : EnumAttr<SparseAutogradDialect, SparseAutograd_Selection24, "select_24">;

def SparseAutograd_SelectionGradient : I32EnumAttr<
    "SelectionGradient", "the gradient of a selection", [
      I32EnumAttrCase<"Dense", 0, "dense">,
      I32EnumAttrCase<"Sparse", 1, "sparse">,
      I32EnumAttrCase<"StraightThrough", 2, "ste">,
      I32EnumAttrCase<"Scaled", 3, "scaled">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::sparse_autograd";
}
def SparseAutograd_SelectionGradientAttr
    : EnumAttr<SparseAutogradDialect, SparseAutograd_SelectionGradient,
               "selection_gradient">;

def SparseAutograd_ResidualsType
    : TypeDef<SparseAutogradDialect, "Residuals"> {
  let mnemonic = "residuals";
  let summary = "What the backward part of a derivative needs of the forward part";
  let description = [{
    What the function `forward`, which a `split_vjp` defines, hands on to its
    backward part: as many values, of whichever types, as the pass
    `--sparse-autograd-differentiate` decides, which also replaces the type by
    theirs.

    ```mlir
    !sparse_autograd.residuals<@f_forward>
    ```
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$forward);
  let assemblyFormat = "`<` $forward `>`";
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADTYPES_TD
