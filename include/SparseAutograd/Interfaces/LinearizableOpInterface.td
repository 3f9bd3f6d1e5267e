//===- LinearizableOpInterface.td - differentiable ops -----*- tablegen -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_INTERFACES_LINEARIZABLEOPINTERFACE_TD
#define SPARSEAUTOGRAD_INTERFACES_LINEARIZABLEOPINTERFACE_TD

include "mlir/IR/Interfaces.td"

def LinearizableOpInterface : OpInterface<"LinearizableOpInterface"> {
  let cppNamespace = "::sparse_autograd";
  let description = [{
    An op that can be differentiated.

    `linearize` builds the *tangent* of the op: the linear map that takes the
    tangents of the operands to the tangents of the results, as ordinary ops
    whose coefficients are values of the primal program. Forward mode is just
    that.

    `transpose` is asked of ops that linear maps are made of: given the
    cotangents of the results it adds a cotangent to every operand in which the
    op is linear. Reverse mode transposes the linear program, last op first.
    An op that never appears in a tangent need not implement it.

    Both are attached to an op of any dialect by an external model, so other
    people's dialects join without a change here:

    ```c++
    struct SquareModel
        : LinearizableOpInterface::ExternalModel<SquareModel, my::SquareOp> {
      LogicalResult linearize(Operation *op, Linearizer &linearizer) const;
    };
    my::SquareOp::attachInterface<SquareModel>(*context);
    ```
  }];

  let methods = [
    InterfaceMethod<[{
        Sets the tangent of every result that has one, in terms of the tangents
        of the operands. A result left without a tangent has tangent zero. A
        failure has emitted a diagnostic on the op.
      }],
      "::llvm::LogicalResult", "linearize",
      (ins "::sparse_autograd::Linearizer &":$linearizer)
    >,
    InterfaceMethod<[{
        Adds to the cotangent of every linear operand what the cotangents of
        the results contribute. Called only when at least one result has a
        cotangent. A failure has emitted a diagnostic on the op.
      }],
      "::llvm::LogicalResult", "transpose",
      (ins "::sparse_autograd::Transposer &":$transposer), "",
      [{
        return ::sparse_autograd::reportNotTransposable($_op);
      }]
    >,
    InterfaceMethod<[{
        Whether the op takes a tangent of type `tangent` of the operand
        `primal`, which is of the same shape but stored in another format. The
        tangent of a sparse value is dense where its derivative by absent
        elements counts too; that of a dense value is row-sparse where few of
        its rows are read.
      }],
      "bool", "takesTangentFormat",
      (ins "::mlir::Value":$primal, "::mlir::Type":$tangent), "",
      [{
        return false;
      }]
    >,
    InterfaceMethod<[{
        Whether each element of a result is computed from the elements of the
        operands at the same place. All have one shape, then, or are scalars.
      }],
      "bool", "isElementwise", (ins), "",
      [{
        return false;
      }]
    >
  ];
}

#endif // SPARSEAUTOGRAD_INTERFACES_LINEARIZABLEOPINTERFACE_TD
