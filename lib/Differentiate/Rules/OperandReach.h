//===- OperandReach.h - the elements that a structured op reads ---*- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_OPERANDREACH_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_OPERANDREACH_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace sparse_autograd {

/// The loops of which each iteration reads elements of its own of an operand
/// with the indexing map `map`: loops that are one result of the map and in no
/// other. A convolution comes back to an element, at (d0, d1) = (0, 2) and at
/// (1, 1) with the result d0 + d1.
llvm::SmallVector<unsigned> getLoopsOfOwnDimension(mlir::AffineMap map);

/// Whether `op` is known to read every element of `operand`. A convolution with
/// a stride may leave some out, and so does an index that is a constant.
bool isReachedInWhole(mlir::linalg::LinalgOp op, mlir::OpOperand &operand);

/// The elements of `operand` that `op` reads, whatever its region does. `shape`
/// has the extents of `operand`; `counterpart` gives a value, visible at the
/// insertion point of `builder`, with those of another operand.
Support createReach(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op,
                    mlir::OpOperand &operand, mlir::Value shape,
                    llvm::function_ref<mlir::Value(mlir::Value)> counterpart);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_OPERANDREACH_H
