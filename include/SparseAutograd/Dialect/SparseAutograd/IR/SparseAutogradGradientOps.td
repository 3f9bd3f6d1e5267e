//===- SparseAutogradGradientOps.td - gradients in the program -*- tablegen -*-//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADGRADIENTOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADGRADIENTOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"
include "SparseAutograd/Interfaces/MaskOpInterface.td"

//===----------------------------------------------------------------------===//
// Ops that say what a gradient is
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Calls of derivatives
//===----------------------------------------------------------------------===//

class SparseAutograd_DerivativeOp<string mnemonic, list<Trait> traits = []>
    : SparseAutograd_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)>;

def SparseAutograd_ValueAndGradOp
    : SparseAutograd_DerivativeOp<"value_and_grad"> {
  let summary = "Call a function and differentiate its first result";
  let description = [{
    Calls `callee` and returns its results followed by the gradients of its
    first result with respect to the arguments that `wrt` lists, in the order
    of `wrt` and of the arguments' types (semantics C1, C4). The first result is
    the loss: a float, or a tensor of rank 0. The others are not differentiated.

    Integer arguments are not differentiable: listing one is an error. The op is
    replaced by `--sparse-autograd-differentiate`; what replaces it is plain IR
    that can be differentiated again.

    ```mlir
    %loss, %dw, %db = sparse_autograd.value_and_grad @f(%w, %b, %x) {wrt = [0, 1]}
        : (tensor<8xf32>, f32, tensor<4x8xf32>) -> (f32, tensor<8xf32>, f32)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyType>:$arguments, DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` `{` `wrt` `=` $wrt `}` attr-dict-with-keyword
    `:` functional-type($arguments, $results)
  }];
}

def SparseAutograd_VjpOp
    : SparseAutograd_DerivativeOp<"vjp", [AttrSizedOperandSegments]> {
  let summary = "Call a function and pull cotangents back through it";
  let description = [{
    Calls `callee` and returns its results followed by the vector-Jacobian
    products with respect to the arguments that `wrt` lists. There is one
    cotangent for each floating result of the callee, in order and of the
    result's type (semantics C2).

    ```mlir
    %y, %dx = sparse_autograd.vjp @f(%x) cotangents(%dy) {wrt = [0]}
        : (tensor<8xf32>), (tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyType>:$arguments,
                       Variadic<AnyType>:$cotangents, DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` `cotangents` `(` $cotangents `)`
    `{` `wrt` `=` $wrt `}` attr-dict-with-keyword
    `:` `(` type($arguments) `)` `,` `(` type($cotangents) `)` `->`
    `(` type($results) `)`
  }];
}

def SparseAutograd_JvpOp
    : SparseAutograd_DerivativeOp<"jvp", [AttrSizedOperandSegments]> {
  let summary = "Call a function and push tangents forward through it";
  let description = [{
    Calls `callee` and returns its results followed by the tangents of its
    floating results, for the given tangents of the arguments that `wrt` lists.

    ```mlir
    %y, %ty = sparse_autograd.jvp @f(%x) tangents(%tx) {wrt = [0]}
        : (tensor<8xf32>), (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyType>:$arguments,
                       Variadic<AnyType>:$tangents, DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` `tangents` `(` $tangents `)`
    `{` `wrt` `=` $wrt `}` attr-dict-with-keyword
    `:` `(` type($arguments) `)` `,` `(` type($tangents) `)` `->`
    `(` type($results) `)`
  }];
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADGRADIENTOPS_TD
