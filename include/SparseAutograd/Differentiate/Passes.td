//===- Passes.td - differentiation passes ------------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_PASSES_TD
#define SPARSEAUTOGRAD_DIFFERENTIATE_PASSES_TD

include "SparseAutograd/PipelinePass.td"

def CheckInput : PipelinePass<"sparse-autograd-check-input", "::mlir::ModuleOp"> {
  let summary = "Refuse marks of the compiler and mixed formats in a program";
  let needs = "any program";
  let leaves = "a program without marks of the compiler and without mixed formats in one concatenation";
  let description = [{
    Attributes of the dialect that passes leave on ops for later passes
    (`sparse_autograd.schedule`, for one) say what the compiler has proved. An
    input program that has one is refused, at the op: what it says would be
    believed. Iterations that are independent are an op that has such, as
    `linalg.generic` and `scf.forall`. Hints for the compiler (`sparse_autograd.nnz`) stay. A
    `tensor.concat` of sparse and dense tensors is refused before MLIR's
    canonicalizer makes a cast of formats of it, which is none of the program's.
    The first pass of the pipeline.
  }];
}

def DifferentiatePass
    : PipelinePass<"sparse-autograd-differentiate", "::mlir::ModuleOp"> {
  let summary = "Replace calls of derivatives by the derivatives";
  let needs = "requests of derivatives, functions with rules or bodies to differentiate";
  let leaves = "the derivatives as functions on tensors; no requests";
  let description = [{
    Replaces every `sparse_autograd.value_and_grad`, `vjp` and `jvp` by a call
    of a private function that computes it, on tensors, and every `split_vjp` by
    the two functions that it defines. What is generated is plain IR, which can
    be differentiated again (semantics G8). Where a `checkpoint` or a
    `custom_vjp` is not differentiated, it becomes a call.

    What the backward part of a `split_vjp` needs of the forward part is kept,
    or computed again from what is kept, whichever costs less in all: a minimum
    cut over the bytes kept, which are written and read once, and the arithmetic
    done again. Remarks of the category `sparse-autograd-residuals` say what was
    chosen and why (`--remarks-filter=sparse-autograd-residuals`).

    A function is differentiated by *linearizing* it, op by op through
    `LinearizableOpInterface`, and, for reverse mode, *transposing* the linear
    program. Calls are inlined first: the support of a cotangent (semantics G2)
    crosses them. A call whose callee would have more than 16,384 ops with its
    calls inlined, and more than four times as many as the functions that it
    reaches, is an error (semantics F4). An op on the path from an argument to a result that has no
    rule is an error (semantics G7).

    ```mlir
    func.func @f(%x: f64) -> f64 {
      %y = math.sin %x : f64
      return %y : f64
    }
    func.func @g(%x: f64) -> (f64, f64) {
      %y, %dx = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
      return %y, %dx : f64, f64
    }
    ```

    becomes, after canonicalization,

    ```mlir
    func.func private @f__value_and_grad_0(%x: f64) -> (f64, f64) {
      %y = math.sin %x : f64
      %dx = math.cos %x : f64
      return %y, %dx : f64, f64
    }
    ```
  }];
  let options = [
    Option<"residualBudget", "residual-budget", "int64_t", /*default=*/"-1",
           "The bytes that the residuals of one split_vjp may take, extents "
           "that are not static counting as 64; more is computed again in the "
           "backward part. Negative: as many as are the fastest.">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::sparse_autograd::SparseAutogradDialect"
  ];
}

def InlineCalls : PipelinePass<"sparse-autograd-inline", "::mlir::ModuleOp"> {
  let summary = "Inline calls, as far as functions stay bounded";
  let needs = "functions, requests replaced";
  let leaves = "calls inlined where functions stay below the limit";
  let description = [{
    Inlines every call of a function that has no other call, and any other as
    long as the caller has no more than `limit` ops then: functions that call
    each other twice would double at each level. Callers are simplified, as by
    MLIR's inliner, before they are inlined themselves. What is left is called
    when the program runs.
  }];
  let options = [
    Option<"limit", "limit", "int64_t", /*default=*/"16384",
           "the number of ops up to which a function inlines its calls">
  ];
}

def ProveSparsityPass
    : PipelinePass<"sparse-autograd-prove-sparsity", "::mlir::ModuleOp"> {
  let summary = "Prove that sparse gradients need no dense memory, and bound all";
  let needs = "derivatives that name the function that they are of";
  let leaves = "a proved bound on each sparse gradient, or an error";
  let description = [{
    Follows each gradient of a sparse type back through the derivative that
    computes it, to what it is made of. A dense tensor over the same dimensions
    that no other result of the function needs, and that is no elementwise
    value which is computed where it is read, would be a dense gradient of a
    sparse tensor: that is an error at the op which makes it, with the ops from
    there to the gradient and the remedies. Masks, of i1, do not count.

    Compares each derivative of a program on sparse tensors, which names that
    program (`sparse_autograd.derivative_of`), with it: a dense tensor of floats
    that is made of a sparse one, or read with one, and that spans two
    dimensions which no dense tensor of the program, no dense argument and no
    result of the derivative spans is an error at the op that makes it, with
    the ops between the two. Dimensions are told from one another by where
    their extents come from (DimensionOrigins.h). Those that the program does
    not have, as the iterations of a loop for which values are kept, are left
    out.

    Each gradient that is a tensor gets the attribute `sparse_autograd.bound` on
    its result: the elements that it stores at most, or, if it is dense, those
    that may differ from zero; and the bytes of what it does not share with an
    argument. Both are numbers, or sums and products of `nnz(k)`, the elements
    that the sparse argument k stores, `count(k)`, those that are true in the
    mask k, and `dim(k, d)`, extents of argument k. A sparse gradient whose
    pattern comes from an op that bounds nothing has none.

    ```mlir
    func.func private @loss__value_and_grad_0(%w: tensor<?x?xf64, #CSR>, ...)
        -> (f64, tensor<?x?xf64, #CSR> {
              sparse_autograd.bound = {bytes = "8 * nnz(0)", elements = "nnz(0)"},
              sparse_autograd.gradient_of = 0 : i64})
    ```

    It runs on what `--sparse-autograd-differentiate` makes, before inlining,
    and is part of the pipeline. Of a `split_vjp` the joint function is looked
    at, in which forward and backward part are one; it stays for that, private
    and unused, until `--symbol-dce`.
  }];
}

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_PASSES_TD
