//===- Passes.td - selection of formats --------------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_FORMATSELECTION_PASSES
#define SPARSEAUTOGRAD_FORMATSELECTION_PASSES

include "SparseAutograd/PipelinePass.td"

def SelectFormats : PipelinePass<"sparse-autograd-select-formats", "::mlir::ModuleOp"> {
  let summary = "Choose how sparse tensors are stored";
  let needs = "hints, and formats that are open";
  let leaves = "every tensor with the encoding that it is stored in, and conversions";
  let description = [{
    Formats are chosen for a whole function, forward and backward part together,
    where the program leaves them open:

    1. **Small or full tensors are not stored as sparse ones.** A tensor that
       the program converts from a dense one, and of which fewer than `min-nnz`
       elements or a share of less than `min-sparsity` zeros are expected, is
       read as it is where only dense results are made of it; an element that is
       zero is selected away, so that no value changes (semantics G9). What is
       expected is the attribute `sparse_autograd.nnz` of the conversion or of
       the argument that it converts, else the number of all elements.
    2. **Arguments with `sparse_autograd.any_format`** are stored with the
       dimension outermost that serves their uses best, in loops more than
       outside. Results that have the attribute follow; others keep their type.
       The manifest says what was chosen.
    3. **Another copy where it pays.** A product with the transpose of a matrix
       that is stored by rows writes to all rows of its result at once; by
       columns, each row is written by one loop alone and rows run in parallel.
       A copy in the other order is made before the outermost loop in which the
       matrix does not change, if what it saves is more than what it costs. If
       the values change in the loop but the pattern does not, the pattern is
       copied once, and with it where each value goes.

    ```mlir
    scf.for %epoch = %c0 to %c200 step %c1 ... {
      // %a : tensor<?x?xf32, #CSR>, from before the loop
      %dx = linalg.matmul indexing_maps = [#transposed, ...] ins(%a, %dy : ...)
    ```

    becomes

    ```mlir
    %by_columns = sparse_tensor.convert %a : tensor<?x?xf32, #CSR> to tensor<?x?xf32, #CSC>
    scf.for %epoch = %c0 to %c200 step %c1 ... {
      %dx = linalg.matmul indexing_maps = [#transposed, ...] ins(%by_columns, %dy : ...)
    ```

    Costs are those of lib/FormatSelection/CostModel.cpp. Each choice, made or
    not, is a remark of the category `sparse-autograd-select-formats`.
  }];
  let options = [
    Option<"minSparsity", "min-sparsity", "double", /*default=*/"0.3",
           "the share of zeros above which a tensor is stored as a sparse one">,
    Option<"minNnz", "min-nnz", "int64_t", /*default=*/"100",
           "how many nonzeros a tensor that is stored as a sparse one should "
           "have">,
    Option<"parallel", "parallel", "bool", /*default=*/"true",
           "loops that may run in parallel do">,
    Option<"forDevice", "for-device", "bool", /*default=*/"false",
           "the loops are kernels of a GPU: what does not run in parallel there "
           "costs more than any copy">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::sparse_tensor::SparseTensorDialect",
    "::mlir::tensor::TensorDialect", "::sparse_autograd::SparseAutogradDialect"];
}

#endif // SPARSEAUTOGRAD_FORMATSELECTION_PASSES
