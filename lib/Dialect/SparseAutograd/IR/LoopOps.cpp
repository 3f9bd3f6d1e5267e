//===- LoopOps.cpp - what loops over buffers do ---------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

using namespace mlir;
using namespace sparse_autograd;

LogicalResult InnerProductOp::verify() {
  auto verifyFactor = [&](Value factor, ValueRange indices,
                          uint64_t dim) -> LogicalResult {
    auto type = cast<ShapedType>(factor.getType());
    if (type.getRank() == 0)
      return emitOpError("must have factors with a dimension to sum over");
    int64_t rank = type.getRank();
    if (dim >= static_cast<uint64_t>(rank))
      return emitOpError("sums along dimension ")
             << dim << " of a factor of rank " << rank;
    if (static_cast<int64_t>(indices.size()) != rank - 1)
      return emitOpError("must have ")
             << rank - 1 << " indices of a factor of rank " << rank
             << ", all but that of the sum";
    return success();
  };
  if (failed(verifyFactor(getLeft(), getLeftIndices(), getLeftDim())) ||
      failed(verifyFactor(getRight(), getRightIndices(), getRightDim())))
    return failure();
  bool isOnBuffers = isa<MemRefType>(getLeft().getType());
  if (isOnBuffers != isa<MemRefType>(getRight().getType()) ||
      (getCoordinates() &&
       isOnBuffers != isa<MemRefType>(getCoordinates().getType())))
    return emitOpError("must have factors that are all tensors or all buffers");
  if (getCoordinates() && static_cast<int64_t>(getLeftDim()) + 1 !=
                              cast<ShapedType>(getLeft().getType()).getRank())
    return emitOpError("must store two of four terms along the last dimension "
                       "of the left factor, not along ")
           << getLeftDim();
  Type left = getElementTypeOrSelf(getLeft().getType());
  Type right = getElementTypeOrSelf(getRight().getType());
  Type sum = getResult().getType();
  bool isNarrow = (left.isF16() || left.isBF16()) && sum.isF32();
  if (left != right || (left != sum && !isNarrow))
    return emitOpError("must have factors of the type of the sum, or of f16 or "
                       "bf16 with a sum of f32");
  return success();
}
