//===- TensorTiles.cpp - Tensors that are copied tile by tile ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorTiles.h"
#include "Failure.h"

#include <cinttypes>

namespace sparse_autograd {
namespace runtime {

int32_t getElementBytes(int32_t element) {
  switch (element) {
  case SPARSE_AUTOGRAD_TENSOR_U8:
    return 1;
  case SPARSE_AUTOGRAD_TENSOR_U16:
  case SPARSE_AUTOGRAD_TENSOR_F16:
  case SPARSE_AUTOGRAD_TENSOR_BF16:
    return 2;
  case SPARSE_AUTOGRAD_TENSOR_U32:
  case SPARSE_AUTOGRAD_TENSOR_I32:
  case SPARSE_AUTOGRAD_TENSOR_F32:
  case SPARSE_AUTOGRAD_TENSOR_TF32:
    return 4;
  case SPARSE_AUTOGRAD_TENSOR_U64:
  case SPARSE_AUTOGRAD_TENSOR_I64:
  case SPARSE_AUTOGRAD_TENSOR_F64:
    return 8;
  default:
    return 0;
  }
}

int32_t getSwizzleSpan(int32_t swizzle) {
  switch (swizzle) {
  case SPARSE_AUTOGRAD_TENSOR_SWIZZLE_NONE:
    return 0;
  case SPARSE_AUTOGRAD_TENSOR_SWIZZLE_32B:
    return 32;
  case SPARSE_AUTOGRAD_TENSOR_SWIZZLE_64B:
    return 64;
  case SPARSE_AUTOGRAD_TENSOR_SWIZZLE_128B:
    return 128;
  default:
    return -1;
  }
}

int32_t checkTiles(const SparseAutogradTensorTiles &tiles) {
  constexpr int32_t invalid = SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  int64_t elementBytes = getElementBytes(tiles.element);
  int32_t span = getSwizzleSpan(tiles.swizzle);
  if (!elementBytes)
    return fail(invalid, "a tensor map of elements %d, which do not exist",
                tiles.element);
  if (span < 0)
    return fail(invalid, "a tensor map with swizzle %d, which does not exist",
                tiles.swizzle);
  if (tiles.rank < 1 || tiles.rank > 5)
    return fail(invalid, "a tensor map of rank %d: 1 to 5 are possible",
                tiles.rank);
  if (reinterpret_cast<uintptr_t>(tiles.address) % 16)
    return fail(invalid,
                "a tensor map of an address that is not aligned to 16 bytes");
  for (int i = 0; i < tiles.rank; ++i) {
    if (tiles.extents[i] < 1 || tiles.extents[i] > int64_t(1) << 32)
      return fail(invalid,
                  "a tensor map of extent %" PRId64
                  " in dimension %d: 1 to 2^32 are possible",
                  tiles.extents[i], i);
    if (tiles.box[i] < 1 || tiles.box[i] > 256)
      return fail(invalid,
                  "a tensor map with boxes of %d in dimension %d: 1 to 256 are "
                  "possible",
                  tiles.box[i], i);
    if (tiles.steps[i] < 1 || tiles.steps[i] > 8)
      return fail(invalid,
                  "a tensor map with steps of %d in dimension %d: 1 to 8 are "
                  "possible",
                  tiles.steps[i], i);
    if (i && (tiles.strides[i - 1] % 16 || tiles.strides[i - 1] < 16 ||
              tiles.strides[i - 1] >= int64_t(1) << 40))
      return fail(invalid,
                  "a tensor map with a stride of %" PRId64
                  " bytes in dimension %d: multiples of 16 below 2^40 are "
                  "possible",
                  tiles.strides[i - 1], i);
  }
  // What does not exist either: the driver ignores it.
  if (tiles.steps[0] != 1)
    return fail(invalid,
                "a tensor map with steps of %d in dimension 0, whose "
                "elements are copied one by one",
                tiles.steps[0]);
  int64_t rowBytes = tiles.box[0] * elementBytes;
  if (rowBytes % 16)
    return fail(invalid,
                "a tensor map with boxes whose rows have %" PRId64
                " bytes, which is no multiple of 16",
                rowBytes);
  if (span && rowBytes > span)
    return fail(invalid,
                "a tensor map with boxes whose rows have %" PRId64
                " bytes, more than the %d that its swizzle permutes",
                rowBytes, span);
  return SPARSE_AUTOGRAD_SUCCESS;
}

} // namespace runtime
} // namespace sparse_autograd
