//===- SparseAutogradProgramOps.td - what a training program needs *- tablegen -*-//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADPROGRAMOPS_TD
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADPROGRAMOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.td"

def SparseAutograd_RandomOp : SparseAutograd_Op<"random", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "A tensor of counter-based random numbers";
  let description = [{
    Element i, in row-major order, is a function of (seed, counter, i) alone:
    the same bits on every target and for every thread count (semantics M5).
    The generator is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random
    numbers: as easy as 1, 2, 3, SC 2011). Its key words 0 and 1 are the lower
    and the upper half of the seed; its counter words 0 and 1 those of i / 2,
    words 2 and 3 those of `counter`. An even element has words 0 (lower) and 1
    (upper) of the block as its 64 bits, an odd one words 2 and 3. The same seed
    and counter give the same numbers; take another counter for each use.

    * `uniform`: in [0, 1): the upper p bits times 2^-p, with p the precision of
      the type (53, 24, 11 and 8 for f64, f32, f16 and bf16), which is exact, so
      that 1 never occurs;
    * `normal`: mean 0, variance 1: the normal quantile of (b + 0.5) 2^-52 with b
      the upper 52 bits, by algorithm AS 241 in f64, in operations that IEEE 754
      rounds in one way; rounded to f32 for the narrower types, and from there
      to f16 and bf16;
    * `bernoulli`: whether the `uniform` of f64 is below `probability`; the
      result is i1.

    Not differentiable: its operands are integers.

    ```mlir
    %w = sparse_autograd.random normal %seed, %c0 : tensor<8x16xf32>
    %u = sparse_autograd.random uniform %seed, %c1, [%rows, %columns] : tensor<?x?xf64>
    %keep = sparse_autograd.random bernoulli %seed, %step probability = 0.8
        : tensor<128xi1>
    ```
  }];
  let arguments = (ins
    SparseAutograd_DistributionAttr:$distribution,
    I64:$seed, I64:$counter, Variadic<Index>:$extents,
    OptionalAttr<F64Attr>:$probability);
  let results = (outs RankedTensorOf<[I1, F16, BF16, F32, F64]>:$result);
  let assemblyFormat = [{
    $distribution $seed `,` $counter (`,` `[` $extents^ `]`)?
    (`probability` `=` $probability^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def SparseAutograd_LogOp : SparseAutograd_Op<"log", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Report progress as a line of named values";
  let description = [{
    Hands the names and the values, integers or floats, to the log handler of
    the runtime; `sparse-runner` prints them as a line (semantics M5).

    ```mlir
    sparse_autograd.log "epoch" %epoch, "train RMSE" %train : index, f64
    ```
  }];
  let arguments = (ins StrArrayAttr:$names,
                       Variadic<AnyTypeOf<[Index, AnySignlessInteger,
                                           SparseAutograd_Float]>>:$values);
  let assemblyFormat = [{
    custom<NamedValues>($names, $values) attr-dict (`:` type($values)^)?
  }];
  let hasVerifier = 1;
}

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRADPROGRAMOPS_TD
