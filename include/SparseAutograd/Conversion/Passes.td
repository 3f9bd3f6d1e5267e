//===- Passes.td - conversions between dialects ------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_CONVERSION_PASSES_TD
#define SPARSEAUTOGRAD_CONVERSION_PASSES_TD

include "SparseAutograd/PipelinePass.td"

//===----------------------------------------------------------------------===//
// FuncToEntries
//===----------------------------------------------------------------------===//

def RecordManifest : PipelinePass<"sparse-autograd-record-manifest", "::mlir::ModuleOp"> {
  let summary = "Record the public functions, as their callers see them";
  let needs = "public functions whose types have a form in the C ABI";
  let leaves = "the module's manifest, which later passes do not change";
  let description = [{
    Writes the names and the types of the arguments and results of every public
    function as JSON into the module attribute `sparse_autograd.manifest`,
    before any conversion changes them. `sparse-autograd-emit-entries` makes it
    a constant of the compiled code. Its schema is in docs/manifest.md.

    A public function whose types have no form in the C ABI (anything but
    scalars and ranked tensors, dense or sparse, of i1, i8 to i64, index, f16,
    bf16, f32 and f64) is an error.

    ```mlir
    func.func @f(%x: tensor<?x4xf32> {sparse_autograd.name = "x"}) -> f32
    ```

    gives an entry "f" with the symbol "_sparse_autograd_entry_f", the argument
    "x" of element type "f32" and shape [null, 4], and the result "result0".
  }];
}

def EmitEntries : PipelinePass<"sparse-autograd-emit-entries", "::mlir::ModuleOp"> {
  let summary = "Give every function of the manifest an entry with the C ABI";
  let needs = "the manifest, and functions on buffers with loops";
  let leaves = "an entry with the C ABI for each function of the manifest, which becomes a constant";
  let description = [{
    For each entry `f` of the module's manifest, adds

    * `_sparse_autograd_entry_f(arguments, results) -> i32`, a
      `SparseAutogradEntry` (Runtime.h), which calls the runtime's guard with
    * a body that checks each pointer, and the descriptors of the arguments
      against the types of `f`, copies strided ones to dense memory, calls it,
      copies a result that would share its buffer with an argument or another
      result, makes the bytes of an i1 0 or 1, brings the results into the form
      that the call asks for, and writes them last of all;

    and the constant `sparse_autograd_manifest`, a zero-terminated string.
    Functions that are not entries become private and get a prefix, so that no
    name of the program collides with one of the C library.

    An allocation that is a result of a function that its entry alone calls is
    announced (sparseAutogradExpectResult), so that a destination of the caller's
    takes its place.

    The storage of sparse arguments is validated, unless the manifest says of the
    entry that it is `unchecked`.

    Runs on memrefs, before the conversion to LLVM.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::cf::ControlFlowDialect"];}

//===----------------------------------------------------------------------===//
// FloatsToF64
//===----------------------------------------------------------------------===//

def FloatsToF64 : PipelinePass<"sparse-autograd-floats-to-f64", "::mlir::ModuleOp"> {
  let summary = "Compute a program in f64: its f64 form";
  let needs = "any program on tensors, derivatives included";
  let leaves = "the same program with every float an f64";
  let description = [{
    Makes every float of less than 64 bits an f64, in types, in signatures and
    in constants, whose numbers stay what they are. Integers, masks, extents and
    the patterns of sparse tensors stay. A conversion from one float to another
    is nothing any more, so what the program rounds to a narrow type is not
    rounded: the f64 form is the function that the program approximates, and
    `sparse-runner --check-gradients` takes its differences.

    `random` draws the numbers of its own type, which are then extended, and a
    bitcast has the bits of its own types.

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xbf16> {
      %half = arith.constant dense<0.5> : tensor<4xf32>
      %y = arith.mulf %x, %half : tensor<4xf32>
      %z = arith.truncf %y : tensor<4xf32> to tensor<4xbf16>
      return %z : tensor<4xbf16>
    }
    ```

    becomes

    ```mlir
    func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
      %half = arith.constant dense<0.5> : tensor<4xf64>
      %y = arith.mulf %x, %half : tensor<4xf64>
      return %y : tensor<4xf64>
    }
    ```

    A function of narrow floats that is defined elsewhere has no such form,
    nor has an op that is not valid for f64: both are errors.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// TensorToAssertions
//===----------------------------------------------------------------------===//

def TensorToAssertions : PipelinePass<"sparse-autograd-tensor-to-assertions"> {
  let summary = "Check at run time what the types leave open";
  let needs = "linalg and tensor ops on dense and sparse tensors";
  let leaves = "extents and indices that types leave open asserted, but in regions of structured ops";
  let description = [{
    Inserts `cf.assert` before every op on tensors whose operands could have
    extents that do not fit or indices out of range, with messages of one line
    that name the location, the op and the reason. The conditions are on
    extents, not on elements, and fold where shapes are static; an op that an
    assertion dominates uses what it proves, so that each is made once. What is
    in the region of a structured op is left to later passes: it may become part
    of an op on sparse tensors, which does not execute it for every element.

    Runs before fusion, which then sees equal extents as the same value.

    ```mlir
    %0 = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) ...
    ```

    becomes (with the comparison of the extents spelled out)

    ```mlir
    cf.assert %same, "model.mlir:3:8: linalg.add: dimension 0 of operand 1 must have the extent of dimension 0 of operand 0"
    %0 = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) ...
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// ScalarsToAssertions
//===----------------------------------------------------------------------===//

def ScalarsToAssertions : PipelinePass<"sparse-autograd-scalars-to-assertions"> {
  let summary = "Check at run time what integers are divided by";
  let needs = "no ops on sparse tensors: regions are in loops";
  let leaves = "divisors, steps, and indices in regions of structured ops asserted where they are computed";
  let description = [{
    Inserts `cf.assert` before every division of integers or remainder whose
    divisor could be zero, or -1 where the dividend is the smallest integer:
    processors stop a program for these. A divisor that all elements of a loop
    share is looked at once, before the loop. What is divided by a positive
    constant, or by the maximum of something and one, is not checked.

    So are the steps of loops, which must be positive, and the indices of a
    `tensor.extract` in the region of a structured op. Of an op on sparse tensors
    `--sparse-autograd-lower-sparse` has asserted them, where it executes them.

    Runs when sparse tensors are gone.

    ```mlir
    %r = arith.divui %a, %b : i64
    ```

    becomes

    ```mlir
    %zero = arith.constant 0 : i64
    %holds = arith.cmpi ne, %b, %zero : i64
    cf.assert %holds, "model.mlir:3:8: arith.divui: the divisor must not be zero"
    %r = arith.divui %a, %b : i64
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// CastsToAssertions
//===----------------------------------------------------------------------===//

def CastsToAssertions : PipelinePass<"sparse-autograd-casts-to-assertions"> {
  let summary = "Check at run time what casts of tensors claim";
  let needs = "no pass follows that changes shapes";
  let leaves = "casts of tensors that claim more than is known asserted";
  let description = [{
    Inserts `cf.assert` before every `tensor.cast` to a type that says more of the
    extents than that of its operand, unless an assertion before it or the ops
    that the extents come from prove it. Casts of the program have been checked by
    `sparse-autograd-tensor-to-assertions`; these are the ones that lowering and
    simplifications have made since. A false one would be a read beyond a buffer,
    or a part of it.

    Runs last before tensors get buffers.

    ```mlir
    %b = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
    ```

    becomes

    ```mlir
    %extent = tensor.dim %a, %c0 : tensor<?xf32>
    %holds = arith.cmpi eq, %extent, %c4 : index
    cf.assert %holds, "model.mlir:3:8: tensor.cast: size mismatch of dim 0"
    %b = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// TensorToBuffer
//===----------------------------------------------------------------------===//

def TensorToBuffer : PipelinePass<"sparse-autograd-tensor-to-buffer", "::mlir::ModuleOp"> {
  let summary = "Give every tensor a buffer";
  let needs = "ops on dense tensors with destinations";
  let leaves = "the same on buffers; no tensors";
  let description = [{
    Upstream's one-shot bufferization, across functions, with what its textual
    options cannot say: arguments of public functions are never written, and a
    loop may carry a buffer that its body allocates (a training loop whose
    parameters are new values each step). Buffers at function boundaries have
    the identity layout.

    Before that, an elementwise op writes to the buffer of an operand that dies
    with it, instead of to a new one, and a tensor that many ops update one
    after the other gets its buffer: the analysis, which takes time cubic in the
    number of accesses of a buffer, then looks at a few of them at a time.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// CompressMaskedRows
//===----------------------------------------------------------------------===//

def CompressMaskedRows : PipelinePass<"sparse-autograd-compress-masked-rows", "::mlir::ModuleOp"> {
  let summary = "Compute the selected elements of a masked row alone";
  let needs = "buffers; fused rows in scf.forall, with masks as operands of linalg";
  let leaves = "rows of few selected elements brought together, then computed";
  let description = [{
    A loop over blocks of rows goes through the elements of a row several times:
    a softmax finds the maximum, computes exponentials and their sum, and
    divides. If one of its operations computes an elementary function where a
    mask selects, and nothing of an element that the mask does not select gets
    into a sum, a maximum or a result, there are two loops: where a block is one
    row, and the mask selects about a third of all elements or less
    (`sparseAutogradEstimateSelected`), an iteration brings the selected elements
    together (`sparseAutogradCompressRow`), computes everything of these, and
    writes results with zeros between them (`sparseAutogradExpandRow`), past the
    caches if they are large. Terms of sums meet in another order there, which
    depends on the mask alone. Rows of narrower elements than f32 are left as they
    are: more of these are computed at a time than are found.

    Runs on buffers, before results are streamed and buffers promoted to the
    stack. For example

    ```mlir
    scf.forall (%i) in (%n) {
      %row = memref.subview %x[%i, 0] [1, %m] [1, 1]
      %selects = memref.subview %mask[%i, 0] [1, %m] [1, 1]
      %out = memref.subview %result[%i, 0] [1, %m] [1, 1]
      linalg.generic ... ins(%row, %selects : ...) outs(%out, %sum : ...)
    }
    ```

    becomes

    ```mlir
    %selected = call @sparseAutogradEstimateSelected(%address_of_mask, %elements)
    %is_sparse = arith.cmpi ule, %selected, %third
    scf.if %is_sparse {
      scf.forall (%i) in (%n) {
        %compressed = memref.alloc(%m) : memref<1x?xf32>
        %compressed_out = memref.alloc(%m) : memref<1x?xf32>
        %count = call @sparseAutogradCompressRow(%compressed, %row, %selects, %m, %bytes)
        linalg.generic ... ins(%part, ... : memref<1x?xf32>, ...) outs(%part_of_out, %sum : ...)
        call @sparseAutogradExpandRow(%out, %compressed_out, %selects, %m, %bytes, %total)
      }
    } else {
      scf.forall (%i) in (%n) {
        ...
        linalg.generic ... ins(%row, %selects : ...) outs(%out, %sum : ...)
      }
    }
    ```

    Remarks of the category `sparse-autograd-loops` say what is chosen, and why not.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// StreamResults
//===----------------------------------------------------------------------===//

def StreamResults : PipelinePass<"sparse-autograd-stream-results", "::mlir::ModuleOp"> {
  let summary = "Write large results past the caches";
  let needs = "buffers; fused rows in scf.forall";
  let leaves = "large results written past the caches";
  let description = [{
    Where a loop over blocks of rows writes a result of a function, element by
    element, and nobody reads it again, pieces of the rows are computed on the
    stack and handed to sparseAutogradStream. That stores them without reading
    the lines of the result from memory first, if the result is larger than the
    caches; what is known to be smaller is left alone. A part of a result that an
    iteration writes and then reads, with an operation that does not write it, is
    in a buffer for as long as the iteration takes, and then handed on: if the
    result is as large as that at run time, and the buffer is not, which chooses
    between two loops.

    Runs on buffers, before they are promoted to the stack. For example

    ```mlir
    scf.forall (%row) in (%n) {
      %out = memref.subview %result[%row, 0] [1, %m] [1, 1]
      linalg.generic ... outs(%out : ...)
    }
    ```

    becomes

    ```mlir
    scf.forall (%row) in (%n) {
      %out = memref.subview %result[%row, 0] [1, %m] [1, 1]
      %piece = memref.alloc() : memref<1x1024xf32>
      scf.for %j = %c0 to %m step %c1024 {
        linalg.generic ... outs(%part_of_piece : ...)
        call @sparseAutogradStream(%address_in_out, %address_of_piece, %bytes, %total)
      }
    }
    ```

    Remarks of the category `sparse-autograd-loops` say what is chosen, and why not.
  }];
  let options = [
    Option<"minimalBytes", "minimal-bytes", "int64_t",
           /*default=*/"::sparse_autograd::genericCPU.sharedCacheBytes",
           "results of fewer bytes, known statically, are left alone">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// ContractionToRuntime
//===----------------------------------------------------------------------===//

def ContractionToRuntime : PipelinePass<"sparse-autograd-contraction-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Call the runtime for dense matrix products";
  let needs = "linalg on buffers";
  let leaves = "contractions that a library computes as calls of the runtime";
  let description = [{
    Turns a linalg op on memrefs that is a matrix product of f32 or f64, named
    or generic, with any permutation of its operands' dimensions, into calls of
    sparseAutogradGemmF32 or F64, which reach the BLAS. Dimensions that are in
    all three operands, and further ones of a kind, become loops around the
    call. A product with a vector is left to the loops: it is bound by memory.

    A zero fill of the result right before the product is dropped and the
    product overwrites it (beta = 0).

    With `for-device` the products are those of memrefs on a device, also of f16
    and bf16 with sums in f32, by a library that may be there when the program
    runs, or not. All loops go to the runtime, which makes few products of them.
    What it says is no product for the library is computed by the program:

    ```mlir
    linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32, #gpu.address_space<global>>)
    linalg.matmul ins(%a, %b : ...) outs(%c : ...)
    ```

    becomes

    ```mlir
    %done = call @sparseAutogradDeviceContract(%f32, %f32, %three, %loops, %alpha, %pa, %pb, %beta, %pc)
    %is_left = arith.cmpi eq, %done, %c0_i32 : i32
    scf.if %is_left {
      linalg.fill ins(%zero : f32) outs(%c : ...)
      linalg.matmul ins(%a, %b : ...) outs(%c : ...)
    }
    ```

    A product scaled by a number that the device has computed is left to the
    program: the host would wait for it.
  }];
  let options = [
    Option<"forDevice", "for-device", "bool", /*default=*/"false",
           "the products are a device's, which may have a library">,
    Option<"minimalWork", "minimal-work", "int64_t",
           /*default=*/"::sparse_autograd::estimates.smallProduct",
           "products with fewer multiply-adds, known statically, become loops">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// SparseProductToRuntime
//===----------------------------------------------------------------------===//

def OfferSparseProducts : PipelinePass<"sparse-autograd-offer-sparse-products", "::mlir::ModuleOp"> {
  let summary = "Offer products with sparse matrices to a library";
  let needs = "structured ops on sparse tensors, as prepare-sparse leaves them";
  let leaves = "products with sparse matrices offered to a library, with the ops for where it is missing";
  let description = [{
    Finds products with matrices of f32 or f64 that are stored by rows (CSR), with
    positions and coordinates of one type, before `--sparse-autograd-lower-sparse`,
    to which each is one op (`matchContraction`): C += A B of a sparse A and a
    dense B (SpMM), A += X Y where A stores something (SDDMM), or -=, also with a
    scale that the host knows, and C = A B of sparse matrices (SpGEMM). A library
    is asked for each; what it does not compute, the op does:

    ```mlir
    %c = linalg.matmul ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>)
                       outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
    ```

    becomes

    ```mlir
    %e, %is_done = sparse_autograd.offer_product %one * %m x %k
        ins(%ap, %ac, %av, %b : ...) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %c = scf.if %is_done -> (tensor<?x?xf32>) {
      scf.yield %e : tensor<?x?xf32>
    } else {
      // The op, on zeros in %e.
    }
    ```

    The branch of an SDDMM returns the values alone; `sparse_autograd.with_values`
    makes a tensor of the old pattern of them. A weight of the rows of A in an SpMM
    is multiplied with its elements before, not with the rows of the result: a row
    that stores nothing is left as it is, whatever its weight (semantics G1).

    Of an SpGEMM the library is asked for the number of entries first:

    ```mlir
    %stored = sparse_autograd.begin_sparse_product %m x %k x %n ins(%ap, %ac, %av, %bp, %bc, %bv : ...)
    %is_begun = arith.cmpi sge, %stored, %c0 : index
    %c = scf.if %is_begun -> (tensor<?x?xf32, #CSR>) {
      %p, %q, %v = sparse_autograd.end_sparse_product ins(...) outs(...)
      %t = builtin.unrealized_conversion_cast %p, %q, %v, %m, %n : ... to tensor<?x?xf32, #CSR>
      scf.yield %t
    } else {
      // The op.
    }
    ```

    The components of A and B are such casts, too, which
    `--sparse-autograd-lower-sparse` makes as well, so that none is left after it.
    For devices, whose libraries `--sparse-autograd-sparse-product-to-runtime`
    calls.

    A remark of the category `sparse-autograd-loops` says of each product that it is
    offered, or why not.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

def SparseProductToRuntime : PipelinePass<"sparse-autograd-sparse-product-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Call the runtime for products that are offered to a library";
  let needs = "offers of products with sparse matrices, on memory of the device";
  let leaves = "calls of the runtime for these";
  let description = [{
    What `--sparse-autograd-offer-sparse-products` has offered becomes calls of the
    runtime, which asks a library that may be there when the program runs, or not:

    ```mlir
    %done = sparse_autograd.offer_product %alpha * %m x %k
        ins(%positions, %coordinates, %values, %y : ...) outs(%x : memref<?x?xf32, #device>)
    ```

    becomes

    ```mlir
    %n = call @sparseAutogradDeviceMultiplySparse(%f32, %i64, %m, %k, %stored, %positions, %coordinates, %values, %columns, %alpha, ...)
    %done = arith.cmpi ne, %n, %c0_i32 : i32
    ```

    So do `sparse_autograd.offer_sampled_product` (SDDMM), and
    `sparse_autograd.begin_sparse_product` and `end_sparse_product` (SpGEMM).
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// LinalgToLoops
//===----------------------------------------------------------------------===//

def LinalgToLoops : PipelinePass<"sparse-autograd-linalg-to-loops"> {
  let summary = "Lower linalg on memrefs to loops that vectorize";
  let needs = "linalg on buffers, storage ops lowered";
  let leaves = "scf loops, parallel ones by their schedule or, over chunks or for a device, as scf.parallel";
  let description = [{
    Each linalg op becomes one loop nest:

    * the order of the loops follows the strides: innermost is the loop that
      touches the fewest cache lines;
    * an output that the inner loops do not index is carried in registers
      through them and stored once;
    * the combiner of a reduction gets `reassoc`, which lets LLVM keep several
      partial sums (the order of a summation is ours to choose), and a combiner
      behind a select becomes a combiner of a select, which vectorizes;
    * a maximum or minimum of floats is carried as an integer of the same order
      and a count of an i1 as an i32 in the innermost loop: both vectorize, the
      one although there may be NaNs, the other as wide as the floats beside it;
    * a large nest is cut into chunks along one loop, as an `scf.parallel`. If
      that loop is a reduction, each chunk has partial results, which are
      combined in their order. Where the cuts are depends on the extents alone,
      so the result has the same bits for any number of threads.

    With `for-device`, for a target with many threads, each element of the
    results is an iteration of its own of an `scf.parallel`, in which reductions
    are loops, whose last loop is the one that touches the fewest cache lines. A
    reduction to few elements is cut into chunks, as above. What is carried stays
    as it is: there are no vectors to fill. The elements of a contraction that
    tiles compute (semantics of it and extents that are known permitting) are
    inner products (`sparse_autograd.inner_product`), which stay whole until
    kernels are built. They begin with zero in place of a fill of their result,
    and a scale multiplies the sum.

    Operands must be the same buffer or disjoint, except that an operand may
    share its buffer with an output that has the same indexing map: what
    bufferization guarantees.

    Remarks of the category `sparse-autograd-loops` say what is chosen, and why not.
  }];
  let options = [
    Option<"chunkWork", "chunk-work", "int64_t", /*default=*/"32768",
           "scalar iterations, weighted by their cost, that a chunk should have">,
    Option<"maximalPartials", "maximal-partials", "int64_t", /*default=*/"64",
           "chunks of a reduction that has partial results">,
    Option<"parallel", "parallel", "bool", /*default=*/"true",
           "cut large nests into chunks">,
    Option<"forDevice", "for-device", "bool", /*default=*/"false",
           "make each element of a result an iteration of a parallel loop">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

//===----------------------------------------------------------------------===//
// ChunkLoops
//===----------------------------------------------------------------------===//

def ChunkLoops : PipelinePass<"sparse-autograd-chunk-loops", "::mlir::func::FuncOp"> {
  let summary = "Cut loops with independent iterations into chunks";
  let needs = "loops on buffers, with a schedule where their iterations are independent";
  let leaves = "an `scf.parallel` over chunks for each of the outermost ones, and no schedules";
  let description = [{
    An outermost `scf.for` whose schedule is `parallel`, and which carries nothing,
    becomes an `scf.parallel` over chunks of its iterations. All other loops run
    in their order, and no loop has a schedule any more. A loop that is an
    `scf.parallel` already stays as it is.

    ```mlir
    scf.for %row = %c0 to %n step %c1 { ... } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    ```

    becomes

    ```mlir
    scf.parallel (%i) = (%c0) to (%chunks) step (%c1) {
      %first = arith.muli %i, %size : index
      %next = arith.addi %first, %size : index
      %last = arith.minsi %next, %n : index
      scf.for %row = %first to %last step %c1 { ... }
    }
    ```

    A chunk has as many iterations as make up the work that is wanted, if
    iterations are alike. Work is estimated before the loop: an iteration of each
    loop within it costs 1, and more with divisions and elementary functions; how
    many entries rows have altogether is read from their positions. The number of
    chunks depends on the program and its data alone, not on the threads.
  }];
  let options = [
    Option<"chunkWork", "chunk-work", "int64_t", /*default=*/"32768",
           "scalar iterations, weighted by their cost, that a chunk should have">,
    Option<"sparseChunkWork", "sparse-chunk-work", "int64_t",
           /*default=*/"65536",
           "the same, of a loop that visits what a sparse tensor stores">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// DistributeScatter
//===----------------------------------------------------------------------===//

def DistributeScatter : PipelinePass<"sparse-autograd-distribute-scatter", "::mlir::ModuleOp"> {
  let summary = "Run loops that write to rows that a list names on several threads";
  let needs = "loops on buffers, parallel ones as `scf.parallel`";
  let leaves = "an `scf.parallel` over owners of rows in place of such a loop, where the runtime has several threads";
  let description = [{
    An outermost loop over entries, or over rows and their entries, each of which
    updates one row of a buffer, the one that a list of coordinates names (the
    product of a transposed matrix in CSR, gradients of gathered rows, sums of COO
    entries), runs on several threads by the owner-computes rule (Callahan and
    Kennedy, Compiling programs for distributed-memory multiprocessors, 1988): each
    row has an owner, which runs the iterations that write to it, in their order.
    The bits of the results are those of the loop on one thread.

    ```mlir
    scf.for %i = %c0 to %m step %c1 {
      %begin = memref.load %positions[%i] : memref<?xindex>
      %end = memref.load %positions[%next] : memref<?xindex>
      scf.for %p = %begin to %end step %c1 {
        %j = memref.load %coordinates[%p] : memref<?xindex>
        ... reads %c[%j], writes %c[%j]
      }
    }
    ```

    becomes

    ```mlir
    scf.if %several {
      // %rows[%p] = %i, in parallel
      scf.parallel (%owner) = (%c0) to (%owners) step (%c1) {
        scf.for %block = %first to %last step %c1024 {
          %count = ... // selects the entries whose rows are the owner's, without branches
          scf.for %q = %c0 to %count step %c1 {
            // %p from what was selected, %i = %rows[%p]
            ... reads %c[%j], writes %c[%j]
          }
        }
      }
    } else {
      // the loop as it was
    }
    ```

    There are as many owners as the runtime has threads, if each has the work that
    makes a chunk, from four on, and at most 64. Rows are distributed in blocks, in
    turn (block-cyclically). The list of rows has 4 bytes for each entry.

    Loops that write and stay on one thread have a remark.
  }];
  let options = [
    Option<"chunkWork", "chunk-work", "int64_t", /*default=*/"32768",
           "scalar iterations, weighted by their cost, that an owner should have">,
    Option<"sparseChunkWork", "sparse-chunk-work", "int64_t",
           /*default=*/"65536",
           "the same, of a loop that visits what a sparse tensor stores">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// VectorizeEntries
//===----------------------------------------------------------------------===//

def VectorizeEntries
    : PipelinePass<"sparse-autograd-vectorize-entries", "::mlir::func::FuncOp"> {
  let summary = "Vectorize loops over the entries of a row";
  let needs = "loops on buffers; the processor of the module";
  let leaves = "vectors for those over the entries of a row, masked at its end, if the processor has masks";
  let description = [{
    A loop over the entries of a row, those between two neighbouring positions,
    that reads and writes lists of numbers of 4 or 8 bytes at its variable alone
    becomes one over vectors: whole ones first, then a masked one. What is added
    up, or combined otherwise in any order (sums must be marked `reassoc`), is
    combined lane by lane, then the halves of the vector are, until there is one
    number.

    ```mlir
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %values[%p] : memref<?xf32>
      %next = arith.addf %s, %x fastmath<reassoc> : f32
      scf.yield %next : f32
    }
    ```

    becomes a loop over whole vectors, and of what is left

    ```mlir
    %mask = arith.cmpi ult, %places, %lefts : vector<16xi32>
    %all = scf.if %hasRest -> (vector<16xf32>) {
      %x = vector.maskedload %values[%whole], %mask, %zeros ...
      %chosen = arith.select %mask, %x, %neutral ...
      %next = arith.addf %sums, %chosen fastmath<reassoc> : vector<16xf32>
      scf.yield %next : vector<16xf32>
    } else {
      scf.yield %sums : vector<16xf32>
    }
    ```

    Maxima and minima of floats are those of integers in the order of the floats
    (`encodeKey`), since `arith.maximumf` of vectors is six instructions, each of
    which waits for the one before.

    Where the processor of the module has no masks, nothing changes: most rows
    are shorter than a few vectors. Elementary functions other than the
    exponential of f32 are left to the vectorizer of LLVM, which knows for which
    widths there are functions on vectors.
  }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", /*default=*/"64",
           "bytes of the vectors, 64 at most, on every processor; 0: no vectors">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// PrefetchBlocks
//===----------------------------------------------------------------------===//

def PrefetchBlocks : PipelinePass<"sparse-autograd-prefetch-blocks", "::mlir::func::FuncOp"> {
  let summary = "Ask for the next block of rows while one is computed";
  let needs = "scf.forall over blocks of rows on buffers";
  let leaves = "prefetches of the next block where blocks exceed the cache";
  let description = [{
    A loop over blocks of rows reads a block from memory once and from a cache
    after that. The operation that computes most, if it computes an elementary
    function for each element, asks for the block of the next iteration: as in a
    softmax, which finds the maxima of rows before it computes exponentials.

    This is done if what the loop reads has `minimal-bytes`, and the blocks of an
    iteration fit into a cache of a core twice, which may be known at run time
    only. For example

    ```mlir
    scf.forall (%i) in (%n) {
      %row = memref.subview %x[%i, 0] [1, %m] [1, 1]
      linalg.generic ... ins(%row : ...) outs(%maximum : ...)
      linalg.generic ... ins(%row, %maximum : ...) outs(%exponentials : ...)
    }
    ```

    becomes

    ```mlir
    scf.forall (%i) in (%n) {
      %row = memref.subview %x[%i, 0] [1, %m] [1, 1]
      linalg.generic ... ins(%row : ...) outs(%maximum : ...)
      %next = memref.subview %x[%next_i, 0] [1, %m] [1, 1]
      scf.for %j = %c0 to %m step %c256 {
        scf.if %is_worthwhile {
          scf.for %k = %j to %end step %c16 {
            memref.prefetch %next[%c0, %k], read, locality<2>, data
          }
        }
        linalg.generic ... ins(%part_of_row, %maximum : ...) outs(%part : ...)
      }
    }
    ```

    Remarks of the category `sparse-autograd-loops` say what is chosen, and why not.
  }];
  let options = [
    Option<"minimalBytes", "minimal-bytes", "int64_t",
           /*default=*/"2 * ::sparse_autograd::genericCPU.coreCacheBytes",
           "what a loop reads is expected to be in a cache below this">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// PrefetchRows
//===----------------------------------------------------------------------===//

def PrefetchRows : PipelinePass<"sparse-autograd-prefetch-rows", "::mlir::func::FuncOp"> {
  let summary = "Ask for rows of tables that lists name before they are read";
  let needs = "loops on buffers";
  let leaves = "prefetches of rows that lists of indices name";
  let description = [{
    A loop that reads a list in its order and accesses the row that the list names,
    element by element in a loop inside or as vectors, asks for the row that it will
    name some iterations later: as in gather, products of sparse matrices with dense
    ones, and updates of rows. A list may name entries of another one. Of a vector all
    lines of 64 bytes are asked for, if it has four, or two where it is written: fewer
    gain nothing. Of a row of elements the first one is.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %row = memref.load %list[%i] : memref<?xindex>
      scf.for %j = %c0 to %m step %c1 {
        %x = memref.load %table[%row, %j] : memref<?x?xf32>
    ```

    becomes

    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %row = memref.load %list[%i] : memref<?xindex>
      %later_i = arith.addi %i, %c32 : index
      %ahead = arith.minsi %later_i, %last : index
      %later = memref.load %list[%ahead] : memref<?xindex>
      memref.prefetch %table[%later, %c0], read, locality<3>, data : memref<?x?xf32>
      scf.for %j = %c0 to %m step %c1 {
        %x = memref.load %table[%row, %j] : memref<?x?xf32>
    ```

    Remarks of the category `sparse-autograd-loops` say what is chosen.
  }];
  let options = [
    Option<"distance", "distance", "int64_t", /*default=*/"32",
           "how many iterations ahead">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// ParallelToRuntime
//===----------------------------------------------------------------------===//

def OutlineParallel : PipelinePass<"sparse-autograd-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "Move the bodies of parallel loops to functions";
  let needs = "parallel loops as scf.parallel, of chunks of iterations";
  let leaves = "a function for each body, called with a range of iterations";
  let description = [{
    The body of an `scf.parallel` becomes a private function of the first and the
    last index of a range and of the values that it uses:

    ```mlir
    scf.parallel (%i) = (%c0) to (%n) step (%c1) { ... }
    ```

    becomes

    ```mlir
    func.call @f_parallel_0(%c0, %n, ...) {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    ```

    which is the sequential loop as it stands;
    `sparse-autograd-parallel-calls-to-runtime` makes it a parallel one once
    the types are LLVM's. Small buffers of one iteration go to the stack. Loops
    with reductions or of several dimensions, and
    loops inside another's body, become sequential `scf.for`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

def ParallelCallsToRuntime : PipelinePass<"sparse-autograd-parallel-calls-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Call the runtime's parallel loop for outlined bodies";
  let needs = "the LLVM dialect, with calls of outlined bodies whose schedule is parallel";
  let leaves = "calls of the runtime's parallel loop; no schedules";
  let description = [{
    An `llvm.call @body(%begin, %end, ...)` whose schedule is `parallel` becomes
    `sparseAutogradParallelFor(%end - %begin, %grain, @body_chunk, environment)`:
    the operands are packed into a structure on the stack of the caller, and
    `body_chunk` unpacks them. A chunk has `%grain` iterations, one or, of a long
    loop, so many that there are about 256 chunks.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// LoopsToFunctions
//===----------------------------------------------------------------------===//

def OutlineLoops : PipelinePass<"sparse-autograd-outline-loops", "::mlir::ModuleOp"> {
  let summary = "Move the loops of large functions to functions of their own";
  let needs = "functions with loops on buffers";
  let leaves = "functions of at most the limit, as far as loops can leave them";
  let description = [{
    In a function with more than `limit` ops the outermost loops with no more
    than that many become private functions of the values that they use:

    ```mlir
    scf.for %i = %c0 to %n step %c1 { ... }
    ```

    becomes

    ```mlir
    func.call @f.loop.0(%n, ...)
    ```

    LLVM's passes take more than linear time in the size of a function, and more
    so where it unrolls loops. A loop that is larger is left as it is, and those
    in it are moved. Constants are made anew in the function. Buffers are handed
    over as pointers, with what their types leave open, and with `llvm.noalias`
    where they overlap with no other that the loop uses. The functions are not
    inlined.
  }];
  let options = [
    Option<"limit", "limit", "int64_t", /*default=*/"512",
           "how many ops a function may have before its loops are moved">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def MergeFunctions : PipelinePass<"sparse-autograd-merge-functions", "::mlir::ModuleOp"> {
  let summary = "Merge private functions that are equal but for their names";
  let needs = "private functions";
  let leaves = "one function of those that are equal but for their names";
  let description = [{
    Private functions with the same type, attributes and body become one, which
    all calls name: layers of a network are compiled once. Public functions keep
    their names.
  }];
}

//===----------------------------------------------------------------------===//
// ProgramToLLVM
//===----------------------------------------------------------------------===//

def ProgramToLLVM : PipelinePass<"sparse-autograd-program-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower loops, buffers and scalars to the LLVM dialect";
  let needs = "loops, buffers, scalars and calls of the runtime";
  let leaves = "the LLVM dialect, with casts that cancel out";
  let description = [{
    One conversion of everything that is left, with upstream's patterns and our
    own where the runtime contract asks for them:

    * allocation and deallocation go through the runtime, with the bytes
      computed without overflow;
    * a failing `cf.assert` raises an error of the runtime, with its message;
    * an i1 in memory is one byte, loaded and stored as such (LLVM does not
      vectorize loads of i1);
    * `sparse_autograd.log` calls the runtime;
    * arithmetic in f16 and bf16 is done in f32 and rounded;
    * elementary functions are intrinsics of LLVM or calls of libm, which LLVM
      vectorizes where there is a library for it (compileToObject makes
      exponentials of f32 arithmetic).

    Stack slots move to the entry block of their function.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// SparseAutogradToLinalg
//===----------------------------------------------------------------------===//

def ConvertSparseAutogradToLinalg
    : PipelinePass<"convert-sparse-autograd-to-linalg"> {
  let summary = "Convert masked reductions and random numbers to linalg";
  let needs = "masked reductions and the like on tensors, derivatives made";
  let leaves = "linalg, arith and math; sums of narrow floats in f32";
  let description = [{
    First ops that stand for several others become these: `linalg.softmax`,
    `linalg.pack`, `linalg.unpack`, `tensor.gather` and `tensor.scatter`.

    Then replaces `masked_reduce`, `masked_softmax`, `masked_log_softmax` and
    `random`, on dense tensors, by ops of `arith`, `math`, `linalg` and
    `tensor`; `grad_mask` and `stop_gradient` by their input. Runs after
    `--sparse-autograd-differentiate`: a derivative that is still to be made is
    an error. `log` stays.

    A mask selects, it never multiplies. The reductions are `linalg.generic` ops
    over the input and the mask, each operand with its own map, so that
    `--generate-runtime-verification` finds a mask of another extent:

    ```mlir
    %r = sparse_autograd.masked_reduce sum %x, %m dims = [1]
        : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
    ```

    becomes

    ```mlir
    %e = tensor.empty(%rows) : tensor<?xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %r = linalg.generic {indexing_maps = [(i, j) -> (i, j), (i, j) -> (i, j), (i, j) -> (i)],
                         iterator_types = ["parallel", "reduction"]}
        ins(%x, %m : tensor<?x?xf32>, tensor<?x?xi1>) outs(%z : tensor<?xf32>) {
    ^bb0(%xi: f32, %mi: i1, %sum: f32):
      %selected = arith.select %mi, %xi, %zero : f32
      %next = arith.addf %sum, %selected : f32
      linalg.yield %next : f32
    } -> tensor<?xf32>
    ```

    The number of passes over the elements: one for `sum`, `mean`, `max`, `min`,
    `prod` and `norm2`; two for `var` and `std` (the deviations from the mean)
    and for `logsumexp` (the exponentials relative to the maximum); three for
    the softmax ops. f16 and bf16 are reduced in f32 and rounded once, by ops of
    `linalg` as well; elements are counted in i64.

    The fastmath flags of an op go to the arithmetic it becomes, but for `nnan`
    and `ninf`: an element that is not selected may be a NaN.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect",
    "::sparse_autograd::SparseAutogradDialect"];
}

def RemoveBarriers : PipelinePass<"sparse-autograd-remove-barriers"> {
  let summary = "Replace barriers by their operands";
  let needs = "nothing moves any more what barriers keep apart";
  let leaves = "no barriers";
  let description = [{
    A `barrier` keeps a computation apart from an earlier one of the same
    values, for as long as equal operations are merged. This pass replaces its
    results by its operands. It is the last one on tensors: from then on what is
    computed twice lies in two buffers, and stays apart.

    ```mlir
    %again = sparse_autograd.barrier %x : tensor<8xf32>
    %y = math.exp %again : tensor<8xf32>
    ```

    becomes

    ```mlir
    %y = math.exp %x : tensor<8xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// SparseTensorToLoops
//===----------------------------------------------------------------------===//

def PrepareSparse : PipelinePass<"sparse-autograd-prepare-sparse", "::mlir::ModuleOp"> {
  let summary = "Make structured ops of all computation on sparse tensors";
  let needs = "structured ops, samples and conversions on sparse tensors, with static encodings";
  let leaves = "no samples and no conversions; products that are read at a pattern alone sampled there, and dense elementwise ops in the body of the sparse op that alone reads them";
  let description = [{
    The first half of the lowering of sparse tensors, on structured ops: what an
    op computes, and at which elements, is final after it. Libraries are offered
    products between it and `--sparse-autograd-lower-sparse`.

    A product of dense tensors, or an elementwise function of one,
    that ops read only where a sparse tensor stores something is sampled there
    (SDDMM). A `sparse_autograd.sample` and a `sparse_tensor.convert` become
    copies into a tensor of their pattern or encoding. An elementwise op that
    computes a dense operand for one sparse op alone becomes part of its body, and
    is computed at the elements that are visited:

    ```mlir
    %p = linalg.matmul ins(%x, %y : tensor<?x8xf32>, tensor<8x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij, #ij], ...}
        ins(%a, %p : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32, #CSR>) {
      ^bb0(%u: f32, %v: f32, %o: f32):
        %m = arith.mulf %u, %v : f32
        linalg.yield %m : f32
    } -> tensor<?x?xf32, #CSR>
    ```

    becomes

    ```mlir
    %start = sparse_autograd.sampled_generic {indexing_maps = [#ij, #ij], ...}
        ins(%z : tensor<?x?xf32>) outs(%zeros : tensor<?x?xf32, #CSR>) { ... }
    %p = sparse_autograd.sampled_generic {indexing_maps = [#ik, #kj, #ij], ...}
        ins(%x, %y : tensor<?x8xf32>, tensor<8x?xf32>) outs(%start : tensor<?x?xf32, #CSR>) {
      ^bb0(%u: f32, %v: f32, %o: f32):
        %m = arith.mulf %u, %v : f32
        %t = arith.addf %o, %m : f32
        linalg.yield %t : f32
    } -> tensor<?x?xf32, #CSR>
    %r = linalg.generic {indexing_maps = [#ij, #ij, #ij], ...}
        ins(%a, %p : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) { ... }
    ```

    An encoding that is not lowered is an error, as is a conversion that changes
    the element type, which `--convert-sparse-autograd-to-linalg` takes apart.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

def LowerSparse : PipelinePass<"sparse-autograd-lower-sparse", "::mlir::ModuleOp"> {
  let summary = "Lower sparse tensors to loops over what they store";
  let needs = "structured ops and moves on sparse tensors, with static encodings, as prepare-sparse leaves them";
  let leaves = "loops on positions, coordinates and values, tensors of rank 1; schedules of parallel loops and of loops over entries";
  let description = [{
    Replaces every tensor with an encoding of `sparse_tensor` by its components,
    ordinary tensors of rank 1: positions and coordinates of each level that has
    them, and values; then the extents that the type leaves open. Functions,
    calls and structured control flow carry the components.

    A structured op with sparse operands becomes loops over what they store.
    Which elements have to be visited follows from the region: an operand whose
    absence alone makes it do nothing must be stored (a factor); if there is
    none, each sparse operand is visited in turn, where the ones before it store
    nothing (a sum). What is absent is nowhere multiplied: a NaN that meets it
    changes nothing (semantics G1). Operands are traversed level by level, in
    the order that is expected to visit least; a level whose coordinate is known
    is searched.

    An elementwise op on tensors of one pattern, or a reduction of all that they
    store, is a structured op on the lists of their values.

    A reshape, a slice, a concatenation or a padding with zeros lists where the
    stored elements of its operands go, and stores them as a new pattern.

    Levels are of a format in the table of level formats, as `dense` and
    `compressed`, a `singleton(soa)` below `compressed(nonunique)`, ordered, of
    dimensions in any order or of blocks of them, with positions and coordinates
    of any width.

    ```mlir
    %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>)
        outs(%z : tensor<?xf64>) -> tensor<?xf64>
    ```

    becomes

    ```mlir
    %y = scf.for %i = %c0 to %rows step %c1 iter_args(%yi = %z) -> (tensor<?xf64>) {
      %begin = tensor.extract %positions[%i] : tensor<?xindex>
      %i1 = arith.addi %i, %c1 : index
      %end = tensor.extract %positions[%i1] : tensor<?xindex>
      %start = tensor.extract %yi[%i] : tensor<?xf64>
      %sum = scf.for %q = %begin to %end step %c1 iter_args(%s = %start) -> (f64) {
        %j = tensor.extract %coordinates[%q] : tensor<?xindex>
        ...
      }
      %next = tensor.insert %sum into %yi[%i] : tensor<?xf64>
      scf.yield %next : tensor<?xf64>
    }
    ```

    With the option `parallel`, an outermost loop whose iterations write to
    different places, as those of the rows of `%y`, is cut into chunks, and the
    loop over them has the schedule `parallel`. Sums are not cut: the result is
    the same, bit for bit.

    With `vector-bytes`, the innermost dense loop is computed by vectors of as
    many bytes where it is the last dimension of the dense tensors that depend on
    it, and scalars are added and multiplied alone. A lane is an element of a row
    of the results, or holds a part of the sum that an element is:

    ```mlir
    %row = scf.for %q = %begin to %end step %c1 iter_args(%s = %zeros) -> (vector<32xf32>) {
      %j = tensor.extract %coordinates[%q] : tensor<?xindex>
      %x = vector.transfer_read %b[%j, %c0], %pad {in_bounds = [true]} : tensor<?x32xf32>, vector<32xf32>
      ...
      %t = arith.mulf %as, %x fastmath<contract> : vector<32xf32>
      %n = arith.addf %s, %t fastmath<reassoc,contract> : vector<32xf32>
      scf.yield %n : vector<32xf32>
    }
    %c_next = vector.transfer_write %row, %c[%i, %c0] {in_bounds = [true]} : vector<32xf32>, tensor<?x32xf32>
    ```

    The loop over such vectors is outside of those over the entries of a row, so
    that the row of the result is in registers meanwhile. A result that was
    filled with a number starts with that, and is not filled. What is left of an
    extent is one narrower vector if the extent is constant, else a masked one;
    where the processor of the module has no masks, loops of open extents are
    scalar.

    With `for-device` such a loop is not cut: each of its iterations may run by
    itself. Dense loops whose iterations write to different places are moved
    outside of those over what is stored, and are parallel too: of a product of
    a sparse and a dense matrix, each element of the result. Rows list the
    entries of a new pattern side by side: each counts its own first, and begins
    behind those of the rows before it (`sparse_autograd.count_before`). A loop
    over the entries of a row, beside loops over all rows, has `entries` in its
    schedule.

    With `for-device` a contraction with a 2:4 matrix whose groups lie along the
    sum is a parallel loop of `sparse_autograd.inner_product` on what is stored,
    which sparse tensor cores compute if it is large and of f16 or bf16, and lanes
    that share a row otherwise. By
    `product-24` that is done (`sparse`), the matrix is expanded and the
    contraction a dense one (`dense`), or, of extents that are known, what a model
    of bytes, multiplications and instructions says is faster (`fastest`), loops
    included; a remark of the category `sparse-autograd-contractions` says which,
    and why not others. Both orders of a selection are packed by one loop over
    blocks of elements, where the extents are multiples of these.

    Not with `for-device`: a tensor that stores two of each four elements of a
    dense one is packed as it is read (`sparse_autograd.pack_24`), both orders of
    one choice at once, and the product of such a matrix, of f32, bf16 or f16, and
    a dense one, of one dimension of columns or of several side by side, is a
    call of the runtime (`sparse_autograd.multiply_24`). By
    `product-24` that multiplies what is stored (`sparse`), the rows that it
    expands (`dense`), or, as a model of costs says, what is faster (`fastest`);
    a remark of the category `sparse-autograd-contractions` has what the model
    predicts. A product whose sum is not along the groups, as that of a gradient,
    reads the transposed storage of the same selection.

    Remarks of the category `sparse-autograd-loops` say what is chosen, and why not.
  }];
  let options = [
    Option<"parallel", "parallel", "bool", /*default=*/"false",
           "give loops whose iterations may run at once the schedule `parallel`">,
    Option<"product24", "product-24", "std::string", /*default=*/"\"fastest\"",
           "how products with a 2:4 matrix are computed: fastest, sparse or "
           "dense">,
    Option<"vectorBytes", "vector-bytes", "int64_t", /*default=*/"0",
           "bytes of the vectors that compute dense loops; 0: no vectors">,
    Option<"forDevice", "for-device", "bool", /*default=*/"false",
           "make loops parallel for a target with many threads">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect",
    "::sparse_autograd::SparseAutogradDialect"];
}

//===----------------------------------------------------------------------===//
// StorageToLoops
//===----------------------------------------------------------------------===//

def StorageToLoops
    : PipelinePass<"sparse-autograd-storage-to-loops", "::mlir::ModuleOp"> {
  let summary = "Make storage from entries by parallel loops";
  let needs = "storage ops on buffers";
  let leaves = "parallel loops for storage that kernels can make";
  let description = [{
    Replaces `count_before`, `sort_entries`, `count_positions` and
    `store_positions`, on buffers, by calls of private functions that run parallel loops, so that a
    device with many threads makes storage where the entries are. What they give
    is what the runtime gives, bit for bit. A function is there once for all ops
    with as many levels, or with the same encoding.

    * Sorting: by merging, each entry by itself, if the list is not sorted
      already. What decides that, and the largest coordinates, the host reads at
      once. Of up to 256 entries, and of those of one level, it asks nothing.
    * Counting: what is new with an entry, added up over those before it. The
      host reads all numbers at once. What each entry has been counted by is
      kept for `store_positions`, if nothing is written in between. Where
      parallel loops alone need the numbers, as their bounds or for the lengths of
      lists that they alone access, the host does not read them: such lists are as
      long as if no two entries were equal, and a bound is the lesser
      (`arith.minui`) of what is loaded and of the number of entries. Of lists
      that are returned the host reads the length right before. If something is
      wrong with an entry, there are no elements, and an assertion fails.
    * Storing: each entry its coordinates, each parent its position.

    Where something is wrong with the entries, or a number does not fit its
    list, the op itself is left, in a branch: the runtime, which
    `--sparse-autograd-storage-to-runtime` calls then, raises the error.

    ```mlir
    sparse_autograd.sort_entries ins(%c : memref<?x2xindex>) outs(%o : memref<?xindex>)
    ```

    becomes

    ```mlir
    func.call @_sparse_autograd_sort_2(%c, %o) : (memref<?x2xindex>, memref<?xindex>) -> ()
    ```

    with

    ```mlir
    func.func private @_sparse_autograd_sort_2(%c: memref<?x2xindex>, %o: memref<?xindex>) {
      ...
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        ...
        memref.store %i, %o[%place] : memref<?xindex>
      }
      return
    }
    ```

    Runs before `--sparse-autograd-place-buffers`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// StorageToRuntime
//===----------------------------------------------------------------------===//

def StorageToRuntime
    : PipelinePass<"sparse-autograd-storage-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Have the runtime make storage from entries";
  let needs = "storage ops on buffers";
  let leaves = "calls of the runtime";
  let description = [{
    Replaces `sort_entries`, `count_positions` and `store_positions`, on
    buffers, by calls of the runtime (`sparseAutogradSortEntries` and so on), and
    `count_before` by a loop.

    ```mlir
    sparse_autograd.sort_entries ins(%c : memref<?x2xindex>) outs(%o : memref<?xindex>)
    ```

    becomes

    ```mlir
    func.call @sparseAutogradSortEntries(%count, %levels, %coordinates, %order)
        : (i64, i64, !llvm.ptr, !llvm.ptr) -> ()
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// KernelToNVVM
//===----------------------------------------------------------------------===//

def KernelToNVVM
    : PipelinePass<"sparse-autograd-kernel-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower the kernels of a gpu.module to the NVVM dialect";
  let needs = "a gpu.module of functions on memrefs";
  let leaves = "the LLVM and NVVM dialects in it";
  let description = [{
    Converts structured control flow, vectors, memrefs, arithmetic and the ops
    of `gpu` and `nvgpu` in a `gpu.module` to `llvm` and `nvvm`. Indices have 64
    bits; a memref is passed as the fields of its descriptor. Functions of
    `math` that are no instructions become calls of libdevice (`__nv_expf`),
    which is linked when the module is compiled.

    Reductions over a warp or a block of any type become shuffles, in the order
    of a butterfly: the same one in every run. Dynamic shared memory follows the
    static variables.

    A product that is added to a sum whose order is free (`fastmath<reassoc>`) is
    added without being rounded first, by one instruction.

    An op that has no form in a kernel is an error.

    ```mlir
    gpu.module @kernels {
      gpu.func @scale(%x: memref<?xf32>, %factor: f32) kernel {
        %i = gpu.thread_id x
        %v = memref.load %x[%i] : memref<?xf32>
        %y = arith.mulf %v, %factor : f32
        memref.store %y, %x[%i] : memref<?xf32>
        gpu.return
      }
    }
    ```

    becomes a function `llvm.func @scale(...) attributes {gpu.kernel,
    nvvm.kernel}` that reads `nvvm.read.ptx.sreg.tid.x`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// KernelToObject
//===----------------------------------------------------------------------===//

def KernelToObject
    : PipelinePass<"sparse-autograd-kernel-to-object", "::mlir::ModuleOp"> {
  let summary = "Compile kernels for chips";
  let needs = "gpu.modules in the LLVM and NVVM dialects";
  let leaves = "gpu.binary ops with code for the chips, PTX or bitcode";
  let description = [{
    Replaces each `gpu.module`, lowered by `--sparse-autograd-kernel-to-nvvm`,
    by a `gpu.binary` with an object for each chip: the code that `ptxas` makes
    of it, PTX, which a driver compiles where the program runs, or LLVM bitcode,
    which the emulator executes.

    What runs is chosen here alone: `ptxas` and libdevice are those of the
    toolkit that the option or the configuration of the build names, and are
    looked for nowhere else; a `gpu.module` that names targets of its own, with
    flags or libraries, is an error. So is a function that is called and that
    nothing defines.

    ```mlir
    gpu.module @kernels { llvm.func @scale(...) attributes {nvvm.kernel} ... }
    ```

    with `chips=sm_90a ptx=sm_80` becomes

    ```mlir
    gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_90a">, bin = "...">,
                         #gpu.object<#nvvm.target<O = 3, chip = "sm_80">, assembly = "...">]
    ```

    A kernel that spills registers is assembled again for half as many blocks on a
    multiprocessor at once as it asks for (`nvvm.minctasm`), which leaves it more of
    them. With `report`, a remark at each kernel says what it takes of a chip.
  }];
  let options = [
    ListOption<"chips", "chips", "std::string",
               "chips to assemble for, such as sm_80 or sm_90a">,
    ListOption<"ptx", "ptx", "std::string",
               "chips whose PTX is to be there for later ones">,
    ListOption<"bitcode", "bitcode", "std::string",
               "chips whose LLVM bitcode is to be there for the emulator, with "
               "calls of libdevice">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "features of LLVM's code for the chips, such as +ptx85; empty: the "
           "least that a chip has and sparse products of a warpgroup need">,
    Option<"toolkit", "toolkit", "std::string", /*default=*/"\"\"",
           "the folder of the CUDA toolkit whose ptxas and libdevice are used; "
           "empty: the one that the build was configured with "
           "(SPARSE_AUTOGRAD_CUDA_TOOLKIT)">,
    Option<"report", "report", "bool", /*default=*/"false",
           "say in remarks what kernels take of a chip">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

//===----------------------------------------------------------------------===//
// LaunchToRuntime
//===----------------------------------------------------------------------===//

def LaunchToRuntime
    : PipelinePass<"sparse-autograd-launch-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Launch kernels and copy by calls of the runtime";
  let needs = "gpu.launch_func, gpu.binary and copies between memory spaces";
  let leaves = "calls of the runtime, and constants of the code";
  let description = [{
    Replaces `gpu.launch_func`, and copies of memrefs in the memory of the device
    (`#gpu.address_space<global>`), by calls of the runtime (DeviceABI.h), in the
    order of the program. Each `gpu.binary` becomes a constant, a
    `SparseAutogradImage`, which holds its code in all the forms that it was
    compiled to; `sparse_autograd_images` lists them. Bitcode, which is for the
    emulator, stays in a constant whose section, `sparse_autograd.emulated.NAME`,
    names what `compileToObject` makes of it.

    ```mlir
    gpu.launch_func @kernels::@scale blocks in (%n, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%x : memref<?xf32, #gpu.address_space<global>>, %factor : f32)
    ```

    becomes a call of `sparseAutogradDeviceLaunch` with the image `@kernels`, the
    name "scale" and a list of the addresses of the parameters, as
    `--sparse-autograd-kernel-to-nvvm` lays them out.

    A launch with tokens, a stream or clusters, a kernel without code, and a copy
    of memrefs with gaps are errors.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// PlaceBuffers
//===----------------------------------------------------------------------===//

def PlaceBuffers : PipelinePass<"sparse-autograd-place-buffers", "::mlir::ModuleOp"> {
  let summary = "Put the buffers that kernels access on the device";
  let needs = "buffers of which no loop is made yet";
  let leaves = "what kernels access in the memory space of the device, with copies at the ends";
  let description = [{
    A buffer that a structured op or a parallel loop accesses is on the device:
    its type gets the memory space `#gpu.address_space<global>`, and so do views
    of it and what loops, branches and calls hand on. Buffers that the host
    alone accesses stay where they are. A loop that is not parallel is done by
    one thread of the device if it accesses a buffer there. The operands of
    `sparse_autograd.begin_sparse_product` and `end_sparse_product` are on the
    device: a library computes there.

    * Of a public function the arguments are copied to the device at its
      beginning, the results from it at its end, and constants once; a caller
      sees memory of the host.
    * Ops that the host does for the storage of sparse tensors
      (`sparse_autograd.sort_entries` and those beside it) get copies:
      `--sparse-autograd-storage-to-loops` leaves those that raise an error.

    ```mlir
    func.func @scale(%x: memref<?xf32>) -> memref<?xf32> {
      %y = memref.alloc(%n) : memref<?xf32>
      linalg.generic ... ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) ...
      return %y : memref<?xf32>
    }
    ```

    becomes

    ```mlir
    func.func @scale(%x: memref<?xf32>) -> memref<?xf32> {
      %dx = memref.alloc(%m) : memref<?xf32, #gpu.address_space<global>>
      memref.copy %x, %dx
      %dy = memref.alloc(%n) : memref<?xf32, #gpu.address_space<global>>
      linalg.generic ... ins(%dx : ...) outs(%dy : ...) ...
      %y = memref.alloc(%k) : memref<?xf32>
      memref.copy %dy, %y
      memref.dealloc %dy
      memref.dealloc %dx
      return %y : memref<?xf32>
    }
    ```

    Runs before `--sparse-autograd-storage-to-runtime` and
    `--sparse-autograd-linalg-to-loops`. A public function that the module calls
    is an error.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// LoopsToKernels
//===----------------------------------------------------------------------===//

def FuseKernels
    : PipelinePass<"sparse-autograd-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Make one parallel loop of several over the same rows";
  let needs = "parallel loops, not yet cut into chunks";
  let leaves = "fewer of them: loops over the same rows are one";
  let description = [{
    Parallel loops of one block that have the same outermost loops, and in these
    touch the same elements of what one of them writes, become one: an index is
    the variable of the loop, or runs over the segment of the row in a list of
    positions (which ascend). So do loops over the same segment within it. What
    an iteration has stored or loaded stays in a register, and a buffer that
    nobody reads any more is none.

    A loop over all entries of a sparse tensor is done row by row beside one over
    the rows that has a loop over the entries of each
    (`entries` in its schedule, as `--sparse-autograd-lower-sparse` says it for a
    device), if both are over the same list.

    So a masked softmax is one loop over rows, forward, and another one backward,
    and what is done to a sampled product before and behind it is done with it.
    Left alone are products of dense matrices, loops over columns behind few rows,
    which need the threads, and sampled products beside sums of rows, unless
    `whole-rows` is set: the former are cut into chunks of entries, whatever rows
    these are of.

    With `for-host`, loops that are not cut yet (their schedule is `parallel`) are
    fused over rows alone, and one of them visits the entries of its rows: dense
    loops are for `--sparse-autograd-fuse`. A list that rows write entry by entry
    when they have read another one takes its place, and what no row reads is not
    stored.

    ```mlir
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %s = ... // the sum of row %i of %x
      memref.store %s, %sums[%i] : memref<?xf32>
    }
    scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
      %s = memref.load %sums[%i] : memref<?xf32>
      ...
    }
    ```

    becomes

    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %s = ...
      scf.for %j = %c0 to %m step %c1 {
        ... // with %s
      } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    ```
  }];
  let options = [
    Option<"wholeRows", "whole-rows", "bool", /*default=*/"false",
           "fuse sampled products with sums of rows, too: a sampled product, a "
           "softmax of it and the product with that are one kernel then, which "
           "does a row after the other. Entries are not read again by another "
           "kernel, but long rows keep the others waiting">,
    Option<"forHost", "for-host", "bool", /*default=*/"false",
           "for the CPU: fuse the outermost loops alone, one of which visits "
           "the entries of its rows">
  ];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

def ProductsToKernels
    : PipelinePass<"sparse-autograd-products-to-kernels", "::mlir::func::FuncOp"> {
  let summary = "Convert contractions on a device to kernels of tiles";
  let needs = "contractions on device memory that are still linalg";
  let leaves = "launches of tiles, and loops for small extents";
  let description = [{
    A parallel loop each of whose iterations has one
    `sparse_autograd.inner_product`, as `--sparse-autograd-linalg-to-loops` makes
    it of a contraction, becomes a `gpu.launch` if its rows, columns and terms are
    32 at least; where the extents are not known, the host finds out, and the loop
    remains for small ones. Further dimensions are those of several matrices, which
    one launch computes. What stands before and after the sum of an iteration is
    done for each element.

    * Of f32 or f64 a block has strips of both factors in shared memory, a thread
      4 x 4 sums of f32, or 2 x 2 of f64, in registers (Volkov and Demmel, SC
      2008). Terms are added in their order;
    * of f16 or bf16 tensor cores multiply and add (`nvgpu.mma.sync`, 16 x 8 x 16):
      a block of eight warps has a tile of 128 x 128 sums, if there are 128 such
      tiles, or one of four warps 64 x 64. One strip of 32 terms is multiplied
      while the next ones are copied to shared memory (`cp.async`, eight elements
      at a time where these divide the rows of the factors; zeros where there are
      none). What a sum begins with is added last. In which order, and with which
      rounding, terms are added is the chip's own. That is why f64 is left to the
      threads: PTX says that each step has the precision of an fma there, too, but
      not which one comes first. And so is f32, of which tensor cores drop 13 bits;
    * of f16 or bf16, with a factor that stores two of each four terms, sparse
      tensor cores (`nvvm.mma.sp.sync`, 16 x 8 x 32, with ordered metadata), in
      tiles of the same sizes and strips of 64 terms. That factor is the one that
      fragments have rows of. Large tiles, whose launch asks for more shared memory,
      are taken where all is copied several elements at a time.

    Inner products that are left become loops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nvgpu::NVGPUDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

def ScheduleLanes
    : PipelinePass<"sparse-autograd-schedule-lanes", "::mlir::func::FuncOp"> {
  let summary = "Choose the loops that lanes of a warp share";
  let needs = "parallel loops on device memory, fused";
  let leaves = "schedules of loops that lanes share (lanes) or take several at once (vector)";
  let description = [{
    Within a parallel loop, of which a thread would do each iteration, finds the
    loops that several threads should do together (`lanes` in their schedule):

    * sums and other reductions whose order is free (`fastmath<reassoc>`, or ops
      that round nothing), and loops that are parallel themselves
      (`parallel` in their schedule),
    * that access neighbouring elements in neighbouring iterations, as a row of
      CSR does, while the threads of neighbouring iterations of the parallel loop
      would not: columns of a row-major matrix, which they read side by side, are
      theirs.

    The innermost such loop is taken, so that a product sampled at the entries of
    a row adds up each entry together. What surrounds it is done by all lanes
    alike; a loop there that none of them shares would make them wait, and
    nothing is shared then. A loop of less than four iterations is not worth it.

    ```mlir
    scf.for %i = %c0 to %rows step %c1 {
      %s = scf.for %k = %begin to %end step %c1 iter_args(%sum = %zero) -> f32 {
        %a = memref.load %values[%k] : memref<?xf32, #gpu.address_space<global>>
        ...
        %next = arith.addf %sum, %p fastmath<reassoc> : f32
        scf.yield %next : f32
      } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
      memref.store %s, %y[%i] : memref<?xf32, #gpu.address_space<global>>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    ```

    `--sparse-autograd-loops-to-kernels` makes groups of lanes of it, as large as
    the loop is long.

    Rows of a sparse matrix whose entries lanes compute together, one after the
    other, are cut into chunks of eight entries instead, whatever rows these are
    of: a chunk is a parallel iteration, which searches the row of its first
    entry (the splitting by nonzeros of Yang, Buluc and Owens, Euro-Par 2018).
    Eight lanes share an entry (`lanes = 8`): a warp has four of
    them on their way, each of which reads whole sectors of memory.

    So are the sums of rows of 4096 entries or more, one for each row or for each
    of its columns, where an iteration has no other loop: then a chunk has 64
    entries, of each row of which eight lanes add up what there is of it if the
    entries are neighbours. Parts of rows that several chunks have are kept, and
    added up by a second loop. The order of the terms depends on the positions
    alone. Rows of fewer entries are left to the device as they are: a second
    kernel would take longer.

    At last it finds the loops of which a thread is to do several iterations, next
    to one another, at once (`vector` with their number, in their schedule): the
    innermost parallel loop of a kernel whose lanes share nothing, and loops that
    lanes share. Their bounds, and the length of each row that they go along, are
    multiples of the number, so that what a thread accesses lies in 16 bytes which
    begin at a multiple of them: four elements of 32 bits or fewer, two of 64
    (Gale, Zaharia, Young and Elsen, SC 2020, on vector memory operations).
    Where a number of which this depends is known at run time only, and the body
    has a loop that is worth it, there are two kernels, and the program looks.

    Remarks of the category `sparse-autograd-loops` say what is chosen, and why not.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

def LoopsToKernels
    : PipelinePass<"sparse-autograd-loops-to-kernels", "::mlir::func::FuncOp"> {
  let summary = "Have kernels do what accesses the memory of the device";
  let needs = "parallel loops on device memory with their schedules";
  let leaves = "gpu.launch for all that accesses the device; no schedules";
  let description = [{
    Of a function on memrefs in the memory of the device
    (`#gpu.address_space<global>`), whose structured ops are loops by now:

    * a loop whose iterations may run at once (`scf.parallel`, or `scf.for` with
      the schedule `parallel`) becomes a `gpu.launch` with a thread for each
      iteration, 256 threads a block; of several loops a block covers a part of
      the plane of the last one and the others, as wide as a warp. Neighbouring
      threads are neighbours in the last loop. An iteration is computed by one
      thread, in the order of the program, so that the result does not depend on
      the device. Iterations that are but a few reads, arithmetic and writes a
      thread does four of together, a block apart: first all of them read;
    * where a loop in it has `lanes` in its schedule (see
      `--sparse-autograd-schedule-lanes`), an iteration has a group of lanes of a
      warp: the least power of 2 that has a lane for each iteration of that loop
      on average, up to 32 (Bell and Garland, SC 2009, on vectors for CSR). Each
      does every n-th iteration of the loop; what it adds up they combine by
      shuffles, in an order that is given by their number. Iterations that write
      it does four of together, too. The first lane stores what is stored outside
      of the loop, and they wait for each other where one reads what another has
      written;
    * where a loop has `vector` in its schedule, a thread does so many
      of its iterations: first each op for all of them, then the next one, also in
      the loops and branches of the body, which they go through together. What
      they share is done once. Buffers are said to begin at multiples of 16 bytes,
      as all that the runtime allocates does, and LLVM makes one access of those
      that lie side by side;
    * control flow around such loops stays on the host, and so do loops that
      access nothing of the device, one iteration after the other;
    * a loop, or the outermost of several, may end at the lesser (`arith.minui`)
      of an element of a buffer and of a number that the host knows: its kernel
      is launched for the latter, and reads the element itself;
    * what else accesses the memory of the device is done by a kernel of one
      thread, or of a warp if lanes share a loop there;
    * an element that the host reads, for a condition or as a result, is copied
      to it, which waits for the kernels before.

    A `cf.assert` in a kernel does not stop it: where its condition does not
    hold, the rest of the block that it is in is left out, and its number is
    kept on the device. The host looks at the end of the function, before
    anything leaves it, and before it works on a tensor of the device itself.

    ```mlir
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %v = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
      ...
    }
    ```

    becomes

    ```mlir
    gpu.launch blocks(%b, ...) in (%blocks, %c1, %c1) threads(%t, ...) in (%c256, %c1, %c1) {
      %first = arith.muli %b, %c256 : index
      %i = arith.addi %first, %t : index
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        ...
      }
    }
    ```

    Runs before `--sparse-autograd-outline-kernels`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

def OutlineKernels
    : PipelinePass<"sparse-autograd-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Make kernels functions of one module";
  let needs = "gpu.launch ops";
  let leaves = "one gpu.module of their kernels, each limited to the registers of its blocks";
  let description = [{
    Each `gpu.launch` becomes a `gpu.launch_func` of a kernel, as
    `--gpu-kernel-outlining` makes it, but all kernels are in one `gpu.module`
    `@kernels`: they are compiled and loaded once, together. A kernel is named
    after the function that launches it, and makes the constants that it uses.
    Those of launches with `nvvm.minctasm`, as
    `--sparse-autograd-loops-to-kernels` makes them, get 256 threads at most
    (`nvvm.maxntid`) unless the size of their blocks is known, and as many blocks
    for a multiprocessor as it says, which leaves each thread its
    share of the registers: 64 if these are four blocks.

    ```mlir
    func.func @f() {
      gpu.launch ... { ... }
    }
    ```

    becomes

    ```mlir
    func.func @f() {
      gpu.launch_func @kernels::@f_kernel ...
    }
    gpu.module @kernels {
      gpu.func @f_kernel() kernel { ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::DLTIDialect"];
}

#endif // SPARSEAUTOGRAD_CONVERSION_PASSES_TD
