//===- SparseAutogradDialect.td - the dialect --------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADDIALECT_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADDIALECT_TD

include "mlir/IR/OpBase.td"

def SparseAutogradDialect : Dialect {
  let name = "sparse_autograd";
  let summary = "Differentiation of programs on masked and sparse data";
  let description = [{
    The ops of this dialect say what plain tensor code cannot: that an element
    is *absent* (masked reductions, masked softmax, gradient masks), and that a
    derivative of a function is wanted (`value_and_grad`, `vjp`, `jvp`). They
    are lowered to `linalg` on tensors by the pipeline; differentiation happens
    before, on tensors.

    Two rules hold for all of them. A masked-out element is selected away,
    never multiplied by zero: a NaN or an infinity there changes no value and
    no gradient, bit for bit. And a slice that selects nothing has a stated
    value and gradient zero.

    Arguments and results of functions carry attributes of the dialect:
    `sparse_autograd.name` (a string: what tools call the argument) and
    `sparse_autograd.mask_of` (a string, on an argument of i1: it is true at
    the elements that are present in the argument of that name).
    `sparse_autograd.default` (a number, on an argument of its type) is what tools
    give the argument if they are given nothing.
    `sparse_autograd.nnz` (an i64, on an argument or an op that makes a tensor)
    says how many elements that are not zero are expected, and
    `sparse_autograd.any_format` (a unit, on a sparse argument or result) leaves
    its format to the compiler; see `--sparse-autograd-select-formats`. Gradients
    among the results of derivatives carry `sparse_autograd.gradient_of` (an i64:
    the number of the argument) and, once that is proved, `sparse_autograd.bound`
    (what the gradient takes at most; see the pass
    `--sparse-autograd-prove-sparsity`).

    Loops carry a schedule, `sparse_autograd.schedule` (a
    `#sparse_autograd.schedule`): which of their iterations may run at once, and
    who runs them. Passes state it and rely on it; programs do not, and the
    pipeline refuses one in its input (`--sparse-autograd-check-input`). The
    verifier refuses what has no meaning where it stands.
  }];
  let cppNamespace = "::sparse_autograd";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The attribute of an argument or a result that gives it a name.
    static constexpr llvm::StringLiteral getNameAttrName() {
      return "sparse_autograd.name";
    }
    /// The attribute of an argument that is a number: its value where tools are
    /// given none. The manifest records it; entries themselves take all
    /// arguments.
    static constexpr llvm::StringLiteral getDefaultAttrName() {
      return "sparse_autograd.default";
    }
    /// The attribute of an argument that is the mask of another one.
    static constexpr llvm::StringLiteral getMaskOfAttrName() {
      return "sparse_autograd.mask_of";
    }
    /// The attribute of a result that is the gradient of an argument.
    static constexpr llvm::StringLiteral getGradientOfAttrName() {
      return "sparse_autograd.gradient_of";
    }
    /// The attribute of a result that says what it takes at most.
    static constexpr llvm::StringLiteral getBoundAttrName() {
      return "sparse_autograd.bound";
    }
    /// The attribute of a derivative, a symbol: the function that it is the
    /// derivative of. What is dense there may be dense in the derivative
    /// (`--sparse-autograd-prove-sparsity`).
    static constexpr llvm::StringLiteral getDerivativeOfAttrName() {
      return "sparse_autograd.derivative_of";
    }
    /// The attribute of a public function, a string for those who read it: the
    /// bytes that a call allocates at most
    /// (`--sparse-autograd-bound-memory`).
    static constexpr llvm::StringLiteral getMemoryBoundAttrName() {
      return "sparse_autograd.memory_bound";
    }
    /// The attribute of an argument or an op that says how many nonzeros to
    /// expect: a hint, of which no value depends.
    static constexpr llvm::StringLiteral getNnzAttrName() {
      return "sparse_autograd.nnz";
    }
    /// The attribute of a sparse argument whose format is a proposal.
    static constexpr llvm::StringLiteral getAnyFormatAttrName() {
      return "sparse_autograd.any_format";
    }
    /// The attribute of an op that computes a cotangent, while a derivative is
    /// built.
    static constexpr llvm::StringLiteral getCotangentAttrName() {
      return "sparse_autograd.cotangent";
    }
    /// The attribute of a module that describes its entries.
    static constexpr llvm::StringLiteral getManifestAttrName() {
      return "sparse_autograd.manifest";
    }
    /// Whether a program may state the attribute `name` of an op: it is not a
    /// mark that one pass leaves for another.
    static bool isForPrograms(llvm::StringRef name);
    /// "operations have 'a', 'b', ...": the attributes that a program may
    /// state, and where others belong; the end of a diagnostic.
    static std::string describeAttrsForPrograms();
  private:
    void registerAttributes();
    void registerOps();
    void registerTypes();
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::sparse_tensor::SparseTensorDialect"];
}

class SparseAutograd_Op<string mnemonic, list<Trait> traits = []>
    : Op<SparseAutogradDialect, mnemonic, traits>;

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADDIALECT_TD
