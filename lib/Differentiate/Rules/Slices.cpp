//===- Slices.cpp - slices that may be empty ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slices.h"

#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether a slice of `type` has no elements, whatever the arguments are.
static bool isEmpty(RankedTensorType type, Value whole,
                    ArrayRef<OpFoldResult> offsets) {
  return llvm::is_contained(type.getShape(), 0) || isSliceAtEnd(offsets, whole);
}

Value sparse_autograd::createSlice(OpBuilder &builder, Location loc,
                                   RankedTensorType type, Value source,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes,
                                   ArrayRef<OpFoldResult> strides) {
  if (!isEmpty(type, source, offsets))
    return tensor::ExtractSliceOp::create(builder, loc, type, source, offsets,
                                          sizes, strides);
  // The extents that the type leaves open are the sizes that are no constants,
  // as for a slice.
  auto [staticSizes, dynamicSizes] = decomposeMixedValues(sizes);
  return tensor::EmptyOp::create(builder, loc, type, dynamicSizes);
}

Value sparse_autograd::replaceSlice(OpBuilder &builder, Location loc,
                                    Value slice, Value destination,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes,
                                    ArrayRef<OpFoldResult> strides) {
  if (isEmpty(cast<RankedTensorType>(slice.getType()), destination, offsets))
    return destination;
  return tensor::InsertSliceOp::create(builder, loc, slice, destination,
                                       offsets, sizes, strides);
}
