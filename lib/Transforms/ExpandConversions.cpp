//===- ExpandConversions.cpp - converts of other element types ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/ExpandConversions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// The elements of `tensor`, which are floats, as those of type `element`.
static Value convertElements(OpBuilder &builder, Location loc, Value tensor,
                             FloatType element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  // Of one width there are two types, and no conversion from one to the other.
  if (width == element.getWidth())
    return convertElements(
        builder, loc,
        convertElements(builder, loc, tensor, builder.getF32Type()), element);
  Type result = type.clone(element);
  if (width < element.getWidth())
    return arith::ExtFOp::create(builder, loc, result, tensor);
  return arith::TruncFOp::create(builder, loc, result, tensor);
}

LogicalResult sparse_autograd::expandConversions(Operation *root) {
  WalkResult walked = root->walk([](sparse_tensor::ConvertOp op) {
    auto type = cast<RankedTensorType>(op.getType());
    Type from = getElementTypeOrSelf(op.getSource().getType());
    if (from == type.getElementType())
      return WalkResult::advance();
    auto element = dyn_cast<FloatType>(type.getElementType());
    if (!element || !isa<FloatType>(from)) {
      op.emitOpError("changes the element type from ")
          << from << " to " << type.getElementType()
          << "; only floats are converted here, convert the elements with an "
             "op of arith on tensors, as arith.sitofp or arith.extui, and then "
             "the storage";
      return WalkResult::interrupt();
    }
    OpBuilder builder(op);
    Value converted =
        convertElements(builder, op.getLoc(), op.getSource(), element);
    if (converted.getType() == type) {
      op.replaceAllUsesWith(converted);
      op.erase();
    } else {
      op.getSourceMutable().assign(converted);
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
