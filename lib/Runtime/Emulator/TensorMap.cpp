//===- TensorMap.cpp - Tensor maps of the emulator --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"
#include "Device/Failure.h"

#include <algorithm>
#include <cstring>

using namespace sparse_autograd::emulator;

namespace {
/// A SparseAutogradTensorTiles in less room.
struct Encoded {
  uint64_t mark;
  uint64_t address;
  uint64_t strides[4];
  uint32_t lastIndices[5];
  uint16_t box[5];
  uint8_t steps[5];
  uint8_t element;
  uint8_t rank;
  uint8_t swizzle;
};
static_assert(sizeof(Encoded) <= tensorMapBytes, "a map has no more room");
} // namespace

/// "sa tile" with a zero.
static constexpr uint64_t mapMark = UINT64_C(0x00656C6974206173);

int32_t sparse_autograd::emulator::encodeTensorMap(
    void *map, const SparseAutogradTensorTiles &tiles) {
  if (int32_t status = runtime::checkTiles(tiles))
    return status;
  int32_t span = runtime::getSwizzleSpan(tiles.swizzle);
  int32_t rowBytes = tiles.box[0] * runtime::getElementBytes(tiles.element);
  // What a GPU does then is not written down.
  if (span && rowBytes != span)
    return runtime::fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                         "the emulator takes a swizzle of %d bytes for boxes "
                         "with rows of as many, not of %d",
                         span, rowBytes);
  Encoded encoded = {};
  encoded.mark = mapMark;
  encoded.address = reinterpret_cast<uintptr_t>(tiles.address);
  encoded.element = static_cast<uint8_t>(tiles.element);
  encoded.rank = static_cast<uint8_t>(tiles.rank);
  encoded.swizzle = static_cast<uint8_t>(tiles.swizzle);
  for (int i = 0; i < tiles.rank; ++i) {
    encoded.lastIndices[i] = static_cast<uint32_t>(tiles.extents[i] - 1);
    encoded.box[i] = static_cast<uint16_t>(tiles.box[i]);
    encoded.steps[i] = static_cast<uint8_t>(tiles.steps[i]);
    if (i)
      encoded.strides[i - 1] = static_cast<uint64_t>(tiles.strides[i - 1]);
  }
  std::memset(map, 0, tensorMapBytes);
  std::memcpy(map, &encoded, sizeof(encoded));
  return SPARSE_AUTOGRAD_SUCCESS;
}

bool sparse_autograd::emulator::decodeTensorMap(
    const void *map, SparseAutogradTensorTiles &tiles) {
  Encoded encoded;
  std::memcpy(&encoded, map, sizeof(encoded));
  if (encoded.mark != mapMark || encoded.rank < 1 || encoded.rank > 5)
    return false;
  tiles = {};
  tiles.address = reinterpret_cast<void *>(encoded.address);
  tiles.element = encoded.element;
  tiles.rank = encoded.rank;
  tiles.swizzle = encoded.swizzle;
  for (int i = 0; i < tiles.rank; ++i) {
    tiles.extents[i] = int64_t(encoded.lastIndices[i]) + 1;
    tiles.box[i] = encoded.box[i];
    tiles.steps[i] = encoded.steps[i];
    if (i)
      tiles.strides[i - 1] = static_cast<int64_t>(encoded.strides[i - 1]);
  }
  return true;
}

void Tile::prepare() {
  for (int i = 0; i < tiles.rank; ++i)
    extents[i] = runtime::getBoxExtent(tiles, i);
  elementBytes = static_cast<uint32_t>(runtime::getElementBytes(tiles.element));
  rowBytes = static_cast<uint32_t>(extents[0]) * elementBytes;
  span = runtime::getSwizzleSpan(tiles.swizzle);
}

void Tile::getRow(uint32_t row, int32_t &begin, int32_t &end,
                  char *&address) const {
  begin = end = 0;
  int64_t offset = 0;
  for (int i = 1; i < tiles.rank; ++i) {
    auto extent = static_cast<uint32_t>(extents[i]);
    int64_t index = coordinates[i] + int64_t(row % extent) * tiles.steps[i];
    row /= extent;
    if (index < 0 || index >= tiles.extents[i])
      return;
    offset += index * tiles.strides[i - 1];
  }
  int64_t first = std::max<int64_t>(0, -int64_t(coordinates[0]));
  int64_t last =
      std::min<int64_t>(extents[0], tiles.extents[0] - coordinates[0]);
  if (first >= last)
    return;
  begin = static_cast<int32_t>(first);
  end = static_cast<int32_t>(last);
  address = static_cast<char *>(tiles.address) + offset +
            (coordinates[0] + first) * elementBytes;
}
