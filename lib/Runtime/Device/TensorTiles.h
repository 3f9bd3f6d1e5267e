//===- TensorTiles.h - Tensors that are copied tile by tile -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tensor maps describe, and the rules for it. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_TENSORTILES_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_TENSORTILES_H

#include "SparseAutograd/Runtime/DeviceABI.h"

namespace sparse_autograd {
namespace runtime {

/// The bytes of an element; 0 if there is no such SparseAutogradTensorElement.
int32_t getElementBytes(int32_t element);

/// The bytes that a swizzle permutes; 0 for none, -1 if there is no such
/// SparseAutogradTensorSwizzle.
int32_t getSwizzleSpan(int32_t swizzle);

/// How many elements of a box lie in a dimension.
inline int32_t getBoxExtent(const SparseAutogradTensorTiles &tiles, int i) {
  return (tiles.box[i] + tiles.steps[i] - 1) / tiles.steps[i];
}

/// Fails, as Failure.h says, unless a device takes the tiles: the rules of
/// cuTensorMapEncodeTiled, which says no more than that a value is invalid.
int32_t checkTiles(const SparseAutogradTensorTiles &tiles);

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_TENSORTILES_H
