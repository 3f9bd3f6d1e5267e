//===- Passes.td - rewrites that phases share --------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TRANSFORMS_PASSES
#define SPARSEAUTOGRAD_TRANSFORMS_PASSES

include "SparseAutograd/PipelinePass.td"

def AttachCPU : PipelinePass<"sparse-autograd-attach-cpu", "::mlir::ModuleOp"> {
  let summary = "Attach the processor that a module is compiled for";
  let needs = "any module";
  let leaves = "the processor that code is compiled for, as an attribute of the module";
  let description = [{
    Sets the attribute `llvm.target` of the module, which passes read as a record
    of vectors and registers (`getCPU` in Target/TargetInfo.h). A module without
    one is compiled for any processor of this machine's kind. For example, with
    `cpu=x86-64-v3 features=+avx512f`:

    ```mlir
    module attributes {llvm.target = #llvm.target<triple = "x86_64-pc-linux-gnu",
                                                  chip = "x86-64-v3",
                                                  features = <["+avx512f"]>>}
    ```

    Only with `cpu=native` this machine is looked at: the attribute then has its
    processor and features, by name.
  }];
  let options = [
    Option<"cpu", "cpu", "std::string",
           /*default=*/"::sparse_autograd::genericCPUName.str()",
           "The least processor that runs the code, as LLVM calls it, such as "
           "x86-64-v3; native: this machine's; generic: any of its kind">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "Features besides the processor's own, as in +avx2,-fma">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def Canonicalize : PipelinePass<"sparse-autograd-canonicalize"> {
  let summary = "Canonicalize without patterns of MLIR that are not sound";
  let needs = "any op";
  let leaves = "canonical forms, without patterns of MLIR that are not sound";
  let description = [{
    MLIR's canonicalizer, without the patterns that change what a program
    computes. In MLIR 22.1 that is one: it moves a cast of what `scf.for` starts
    from into the loop. In

    ```mlir
    %start = tensor.cast %none : tensor<0xindex> to tensor<?xindex>
    %list = scf.for ... iter_args(%it = %start) -> (tensor<?xindex>) {
      %longer = ...
      scf.yield %longer : tensor<?xindex>
    }
    ```

    the loop would then carry `tensor<0xindex>`, and what it yields would be cast
    to that type, which is not true of a list that grows. The pattern that takes
    its place asks that each iteration keeps the extents: what it yields has those
    of what it starts from, or constants that are the same.

    What is read of the condition of an `scf.if` in its branches is replaced by a
    constant as in MLIR, but in one walk: the pattern takes time cubic in the
    number of branches of one condition.

    What runs on tensors takes this pass in place of `canonicalize`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect",
                           "::sparse_autograd::SparseAutogradDialect"];
}

#endif // SPARSEAUTOGRAD_TRANSFORMS_PASSES
