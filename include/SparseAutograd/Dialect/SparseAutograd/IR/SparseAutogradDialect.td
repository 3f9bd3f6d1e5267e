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

    Passes mark ops for later passes. Programs do not: the pipeline refuses
    marks in its input (`--sparse-autograd-check-input`), and the verifier those
    on ops that cannot have them. A loop or a call with
    `sparse_autograd.parallel` (a unit) may run its iterations in any order and
    at once: they write to different places. Within one, a loop with
    `sparse_autograd.lanes` (a unit) is done by several threads together, and
    what it adds up is combined, and of a loop with `sparse_autograd.vector` (an
    index) a thread does so many iterations at once; see
    `--sparse-autograd-schedule-lanes`.
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
    /// The attribute of a loop, or of a call that runs a range of one (its
    /// first operand is 0, its second the number of iterations), whose
    /// iterations write to different places.
    static constexpr llvm::StringLiteral getParallelAttrName() {
      return "sparse_autograd.parallel";
    }
    /// The attribute of a loop within a parallel one whose iterations the lanes
    /// of a group share: so many (an index), or as the loop is long (a unit).
    static constexpr llvm::StringLiteral getLanesAttrName() {
      return "sparse_autograd.lanes";
    }
    /// The attribute of a loop of which a thread does so many iterations (an
    /// index), next to one another, at once: it accesses their elements
    /// together. Its step is 1, the number divides its bounds, which are
    /// constants, and its iterations may be done in any order.
    static constexpr llvm::StringLiteral getVectorAttrName() {
      return "sparse_autograd.vector";
    }
    /// The attribute of a loop over entries that a sparse tensor stores: with
    /// the loops around it, it visits each element of the lists that it accesses
    /// at its variable once.
    static constexpr llvm::StringLiteral getEntriesAttrName() {
      return "sparse_autograd.entries";
    }
    /// The attribute of an op whose operands are known to be valid at run time.
    static constexpr llvm::StringLiteral getUncheckedAttrName() {
      return "sparse_autograd.unchecked";
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
