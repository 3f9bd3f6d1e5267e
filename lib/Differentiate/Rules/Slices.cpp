//===- Slices.cpp - slices that may be empty ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slices.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

/// Whether a value of `type` has no elements, whatever the arguments are.
static bool isEmpty(RankedTensorType type) {
  return llvm::is_contained(type.getShape(), 0);
}

Value sparse_autograd::createSlice(OpBuilder &builder, Location loc,
                                   RankedTensorType type, Value source,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes,
                                   ArrayRef<OpFoldResult> strides) {
  if (!isEmpty(type))
    return tensor::ExtractSliceOp::create(builder, loc, type, source, offsets,
                                          sizes, strides);
  auto [staticSizes, dynamicSizes] = decomposeMixedValues(sizes);
  auto dropped = computeRankReductionMask(staticSizes, type.getShape(),
                                          /*matchDynamic=*/true);
  SmallVector<Value> extents;
  unsigned dim = 0;
  for (auto [position, size] : llvm::enumerate(sizes))
    if (!dropped->contains(position) && type.isDynamicDim(dim++))
      extents.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return tensor::EmptyOp::create(builder, loc, type, extents);
}

Value sparse_autograd::replaceSlice(OpBuilder &builder, Location loc,
                                    Value slice, Value destination,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes,
                                    ArrayRef<OpFoldResult> strides) {
  if (isEmpty(cast<RankedTensorType>(slice.getType())))
    return destination;
  return tensor::InsertSliceOp::create(builder, loc, slice, destination,
                                       offsets, sizes, strides);
}
