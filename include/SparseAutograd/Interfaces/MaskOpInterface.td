//===- MaskOpInterface.td - ops that select by a mask ------*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_INTERFACES_MASKOPINTERFACE_TD
#define SPARSEAUTOGRAD_INTERFACES_MASKOPINTERFACE_TD

include "mlir/IR/Interfaces.td"

def MaskOpInterface : OpInterface<"MaskOpInterface"> {
  let cppNamespace = "::sparse_autograd";
  let description = [{
    An op that selects the elements of one operand by a mask: elements where
    the mask is false are selected away, never multiplied by zero (semantics
    G1). The mask ranges over the dimensions of the operand that
    `getMaskDimensions` lists, in that order.
  }];

  let methods = [
    InterfaceMethod<"The operand that the mask selects from.",
      "::mlir::Value", "getMaskedOperand">,
    InterfaceMethod<"The mask, a tensor of i1; null selects everything.",
      "::mlir::Value", "getMaskOperand">,
    InterfaceMethod<[{
        The dimensions of the masked operand that the mask ranges over; all of
        them by default.
      }],
      "::llvm::SmallVector<int64_t>", "getMaskDimensions">,
    InterfaceMethod<[{
        Removes the mask: everything is selected. False where the op cannot
        do without one.
      }],
      "bool", "removeMask">
  ];
  let verify = [{
    return ::sparse_autograd::verifyMask($_op);
  }];
}

#endif // SPARSEAUTOGRAD_INTERFACES_MASKOPINTERFACE_TD
