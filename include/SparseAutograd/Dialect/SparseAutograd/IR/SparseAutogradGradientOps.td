//===- SparseAutogradGradientOps.td - gradients in the program -*- tablegen -*-//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADGRADIENTOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADGRADIENTOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"
include "SparseAutograd/Interfaces/MaskOpInterface.td"

def SparseAutograd_GradMaskOp : SparseAutograd_Op<"grad_mask", [
    Pure, DeclareOpInterfaceMethods<MaskOpInterface>,
    AllTypesMatch<["input", "result"]>]> {
  let summary = "Select the gradient of a value by a mask";
  let description = [{
    The identity; the cotangent that has accumulated at this value is selected
    by the mask (semantics M1): zero where the mask is false. A NaN in the input
    passes forward, as in any identity. The mask ranges over the dimensions
    that `mask_dims` lists, all by default.

    ```mlir
    %y = sparse_autograd.grad_mask %x, %m : tensor<4x8xf32>, tensor<4x8xi1>
    ```
  }];
  let arguments = (ins
    SparseAutograd_FloatTensor:$input,
    SparseAutograd_MaskTensor:$mask,
    OptionalAttr<DenseI64ArrayAttr>:$mask_dims);
  let results = (outs SparseAutograd_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $mask (`mask_dims` `=` $mask_dims^)? attr-dict
    `:` type($input) `,` type($mask)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def SparseAutograd_StopGradientOp : SparseAutograd_Op<"stop_gradient", [
    Pure, SameOperandsAndResultType]> {
  let summary = "Pass a value, not its gradient";
  let description = [{
    The identity; the gradient of the input through this op is zero
    (semantics M2).

    ```mlir
    %y = sparse_autograd.stop_gradient %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins SparseAutograd_FloatLike:$input);
  let results = (outs SparseAutograd_FloatLike:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasFolder = 1;
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADGRADIENTOPS_TD
