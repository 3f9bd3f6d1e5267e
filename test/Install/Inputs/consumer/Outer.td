//===- Outer.td - a dialect outside the tree ---------------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef OUTER_TD
#define OUTER_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def OuterDialect : Dialect {
  let name = "outer";
  let cppNamespace = "::outer";
}

def Outer_Vector : 1DTensorOf<[F64]>;

class Outer_Op<string mnemonic, list<Trait> traits = []>
    : Op<OuterDialect, mnemonic,
         [Pure, AllTypesMatch<["input", "result"]>] # traits> {
  let results = (outs Outer_Vector:$result);
}

def Outer_SquareOp : Outer_Op<"square"> {
  let summary = "input * input, elementwise";
  let arguments = (ins Outer_Vector:$input);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Outer_ScaleOp : Outer_Op<"scale"> {
  let summary = "input * factor, linear in each of them";
  let arguments = (ins Outer_Vector:$input, F64:$factor);
  let assemblyFormat = "$input `by` $factor attr-dict `:` type($input)";
}

def Outer_SoftClipOp : Outer_Op<"softclip"> {
  let summary = "bound * tanh(input / bound)";
  let arguments = (ins Outer_Vector:$input, F64:$bound);
  let assemblyFormat = "$input `at` $bound attr-dict `:` type($input)";
}

#endif // OUTER_TD
