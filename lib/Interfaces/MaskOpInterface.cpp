//===- MaskOpInterface.cpp - ops that select by a mask --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Interfaces/MaskOpInterface.h"

using namespace mlir;
using namespace sparse_autograd;

#include "SparseAutograd/Interfaces/MaskOpInterface.cpp.inc"

LogicalResult sparse_autograd::verifyMask(Operation *op) {
  auto maskOp = cast<MaskOpInterface>(op);
  auto type = cast<RankedTensorType>(maskOp.getMaskedOperand().getType());
  SmallVector<int64_t> dims = maskOp.getMaskDimensions();
  Value mask = maskOp.getMaskOperand();
  if (!mask) {
    if (op->hasAttr("mask_dims"))
      return op->emitOpError("has 'mask_dims' but no mask; drop the attribute, "
                             "or give a mask");
    return success();
  }
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= type.getRank())
      return op->emitOpError("'mask_dims' lists dimension ")
             << dim << " of " << type << "; it must be in 0 to "
             << type.getRank() - 1;
    if (!seen.insert(dim).second)
      return op->emitOpError("'mask_dims' lists dimension ") << dim << " twice";
  }
  auto maskType = cast<RankedTensorType>(mask.getType());
  if (maskType.getRank() != static_cast<int64_t>(dims.size()))
    return op->emitOpError("the mask ")
           << maskType << " must have one dimension for each of the "
           << dims.size() << " dimensions of " << type
           << " that it ranges over; list them in 'mask_dims'";
  for (auto [position, dim] : llvm::enumerate(dims)) {
    int64_t maskExtent = maskType.getDimSize(position);
    int64_t extent = type.getDimSize(dim);
    if (ShapedType::isDynamic(maskExtent) || ShapedType::isDynamic(extent))
      continue;
    if (maskExtent != extent)
      return op->emitOpError("dimension ")
             << position << " of the mask has extent " << maskExtent
             << ", dimension " << dim << " of the masked operand has extent "
             << extent << "; masks are not broadcast, list the dimensions that "
             << "the mask ranges over in 'mask_dims'";
  }
  return success();
}
