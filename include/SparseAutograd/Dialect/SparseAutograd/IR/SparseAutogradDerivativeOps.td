//===- SparseAutogradDerivativeOps.td - derivatives of functions *- tablegen -*-==//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADDERIVATIVEOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADDERIVATIVEOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

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

    The type of a gradient says how it is stored. That of a sparse argument has
    its pattern, unless the gradient's type has no encoding: then it is dense,
    and derivatives by absent elements count as well (semantics G5). That of a
    dense argument is dense, or row-sparse if its type is (see
    `sparse_autograd.gather`).

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
    products with respect to the arguments that `wrt` lists, whose types may be
    those of `value_and_grad`. There is one cotangent for each floating result
    of the callee, in order and of the result's type; that of a sparse result
    may be dense, and is read at the pattern of the result (semantics C2).

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
  let extraClassDeclaration = [{
    /// The results that are tangents.
    ::mlir::ResultRange getTangentResults();
  }];
}

def SparseAutograd_LinearTransposeOp
    : SparseAutograd_DerivativeOp<"linear_transpose",
                                  [AttrSizedOperandSegments]> {
  let summary = "Apply the transpose of a linear function";
  let description = [{
    The callee is linear in the arguments that `wrt` lists, the others held
    fixed, and all its results are floating; that is not checked. The op applies
    the transpose of this linear map: cotangents of the results in, cotangents
    of the arguments of `wrt` out. Of an argument of `wrt` only the extents are
    read. The transpose of this op is a call of the callee.

    ```mlir
    // @scale(%a, %t) returns %a * %t.
    %ct = sparse_autograd.linear_transpose @scale(%a, %like) cotangents(%c) {wrt = [1]}
        : (tensor<8xf32>, tensor<8xf32>), (tensor<8xf32>) -> (tensor<8xf32>)
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

//===----------------------------------------------------------------------===//
// The derivative of a function in two parts
//===----------------------------------------------------------------------===//

def SparseAutograd_SplitVjpOp : SparseAutograd_DerivativeOp<"split_vjp", [
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "Define the forward and the backward part of a derivative";
  let description = [{
    Defines two functions (semantics C3). `forward` takes the arguments of
    `callee` and returns its results and what the backward part needs of it, the
    *residuals*. `backward` takes the residuals and one cotangent for each
    floating result of the callee, and returns the gradients of the arguments
    that `wrt` lists. This is what a framework wants that decides itself when
    the backward pass runs.

    What is saved and what is computed again in `backward` is decided by a
    minimum cut over the bytes of the residuals and the cost of computing them
    again; see the pass `--sparse-autograd-differentiate` and its option
    `residual-budget`.

    Without anything else the two functions are public, and the residuals are
    ordinary values at the end of the results and at the beginning of the
    arguments. A program that calls the functions itself declares them; there
    the residuals are one value of type `!sparse_autograd.residuals`, and the
    functions stay private:

    ```mlir
    sparse_autograd.split_vjp @f as @f_forward, @f_backward {wrt = [0]}

    func.func private @f_forward(tensor<8xf32>)
        -> (tensor<4xf32>, !sparse_autograd.residuals<@f_forward>)
    func.func private @f_backward(!sparse_autograd.residuals<@f_forward>, tensor<4xf32>)
        -> tensor<8xf32>
    ```

    The residuals may go through calls and through scf.for, scf.if and
    scf.while on their way, but nothing else reads them.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, FlatSymbolRefAttr:$forward,
                       FlatSymbolRefAttr:$backward, DenseI64ArrayAttr:$wrt);
  let assemblyFormat = [{
    $callee `as` $forward `,` $backward ` ` `{` `wrt` `=` $wrt `}`
    attr-dict-with-keyword
  }];
}

//===----------------------------------------------------------------------===//
// Calls with a derivative of their own
//===----------------------------------------------------------------------===//

def SparseAutograd_CustomVjpOp : SparseAutograd_DerivativeOp<"custom_vjp"> {
  let summary = "Call a function whose derivative the program states";
  let description = [{
    Calls `callee`. Where the call is differentiated, the user's own pair takes
    the place of the rules (semantics M4): `forward`, called instead of the
    callee, takes its arguments and returns its results and then any residuals;
    `backward` takes the residuals and one cotangent for each floating result,
    and returns one gradient for each floating argument. The pair is trusted.

    `backward` must be linear in the cotangents: forward mode is its transpose,
    and reverse mode evaluates it under the masks that leave out elements of the
    cotangents (semantics G2), as the transpose of that. A function that is not
    linear, or has no derivative rules, is called as it is in reverse mode. Higher
    derivatives are those of the pair.

    ```mlir
    %mean = sparse_autograd.custom_vjp @mean(%x, %valid)
        forward(@mean_forward) backward(@mean_backward)
        : (tensor<8xf32>, tensor<8xi1>) -> f32
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyType>:$arguments,
                       FlatSymbolRefAttr:$forward,
                       FlatSymbolRefAttr:$backward);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` `forward` `(` $forward `)`
    `backward` `(` $backward `)` attr-dict
    `:` functional-type($arguments, $results)
  }];
}

def SparseAutograd_CheckpointOp : SparseAutograd_DerivativeOp<"checkpoint"> {
  let summary = "Call a function that the backward pass computes again";
  let description = [{
    Calls `callee`. Where the call is differentiated in reverse, nothing of what
    it computes is kept: the backward pass computes the callee again, behind a
    `barrier` that keeps the two computations apart (semantics F3). That trades
    time for memory. What `random` draws depends on its operands alone, so it
    is drawn again bit for bit.

    ```mlir
    %y = sparse_autograd.checkpoint @layer(%x, %w)
        : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<AnyType>:$arguments);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $arguments `)` attr-dict
    `:` functional-type($arguments, $results)
  }];
}

def SparseAutograd_BarrierOp : SparseAutograd_Op<"barrier", [
    Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "Keep what follows apart from what came before";
  let description = [{
    Each result is the operand of the same position. What is computed from the
    results is not merged with what was computed from the operands, and does not
    begin before all the operands are there: this is how a checkpoint computes
    its values again, late. The op goes once the program has been fused.

    ```mlir
    %x_again, %ct_again = sparse_autograd.barrier %x, %ct : tensor<8xf32>, f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADDERIVATIVEOPS_TD
