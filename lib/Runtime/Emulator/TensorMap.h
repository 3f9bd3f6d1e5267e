//===- TensorMap.h - Tensor maps of the emulator ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the emulator has in the 128 bytes of a map. A GPU has something else
// there. Internal to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_TENSORMAP_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_TENSORMAP_H

#include "Device/TensorTiles.h"

#include <cstddef>
#include <cstdint>

namespace sparse_autograd {
namespace emulator {

constexpr size_t tensorMapBytes = 128;
constexpr size_t tensorMapAlignment = 64;

/// Writes a map of tiles, or fails, as Failure.h says, if they are not valid or
/// not emulated.
int32_t encodeTensorMap(void *map, const SparseAutogradTensorTiles &tiles);
/// Whether these bytes are a map, and of what.
bool decodeTensorMap(const void *map, SparseAutogradTensorTiles &tiles);

/// Where a byte lies in swizzled shared memory: pieces of 16 bytes are permuted
/// by the bits of their address that stand 3 above those that say which piece
/// of the span it is (PTX ISA, "Swizzling modes").
inline uint32_t swizzle(uint32_t offset, int32_t span) {
  if (!span)
    return offset;
  return offset ^ (offset >> 3 & static_cast<uint32_t>(span - 16));
}

/// A tile of a tensor at coordinates.
struct Tile {
  SparseAutogradTensorTiles tiles = {};
  int32_t coordinates[5] = {};

  /// The extents of the tile, and of a row its bytes.
  int32_t extents[5] = {1, 1, 1, 1, 1};
  uint32_t elementBytes = 0;
  uint32_t rowBytes = 0;
  int32_t span = 0;

  void prepare();
  /// In 64 bits: boxes may be larger than any memory.
  uint64_t getRows() const {
    return uint64_t(extents[1]) * extents[2] * extents[3] * extents[4];
  }
  uint64_t getBytes() const { return getRows() * rowBytes; }
  /// Of a row of the tile, the elements [begin, end) are in the tensor, the
  /// first of them at the address; there may be none.
  void getRow(uint32_t row, int32_t &begin, int32_t &end, char *&address) const;
};

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_TENSORMAP_H
