//===- Groups24.h - Groups of 2:4 storage as bits ---------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which elements of 16 groups of four are kept, and what 2:4 storage has of
// them (semantics T2, stored groups), in the bits of 64-bit numbers: group g
// has bits 4 g to 4 g + 3. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_GROUPS24_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_GROUPS24_H

#include <cstdint>

namespace sparse_autograd {
namespace runtime {

/// Elements of a group, and those of them that are stored.
constexpr int64_t groupExtent = 4, groupStored = 2;

/// Elements, and groups, whose bits are in one number.
constexpr int64_t bitsExtent = 64, bitsGroups = bitsExtent / groupExtent;

/// Groups as columns: element i of each is a bit of `element[i]`.
struct KeptBits {
  uint64_t element[groupExtent];

  /// Where at least two are kept, and where more are.
  constexpr uint64_t hasTwo() const {
    return (element[0] & element[1]) | (element[2] & element[3]) |
           ((element[0] | element[1]) & (element[2] | element[3]));
  }
  constexpr uint64_t hasThree() const {
    return (element[0] & element[1] & (element[2] | element[3])) |
           ((element[0] | element[1]) & element[2] & element[3]);
  }
  /// What is stored: what is kept and, of groups that keep fewer than two, the
  /// last elements that are left.
  constexpr KeptBits store() const {
    return {{element[0], element[1], element[2] | ~(element[0] | element[1]),
             element[3] | ~hasTwo()}};
  }
};

/// Bit 0 of each group.
constexpr uint64_t firstBits = 0x1111111111111111;

/// Groups side by side as columns, with a bit for each group where its first
/// element was.
constexpr KeptBits splitGroups(uint64_t kept) {
  return {{kept & firstBits, kept >> 1 & firstBits, kept >> 2 & firstBits,
           kept >> 3 & firstBits}};
}

/// The reverse of it; other bits of columns are ignored.
constexpr uint64_t joinGroups(const KeptBits &bits) {
  return (bits.element[0] & firstBits) | (bits.element[1] & firstBits) << 1 |
         (bits.element[2] & firstBits) << 2 |
         (bits.element[3] & firstBits) << 3;
}

/// The coordinates of the two stored elements of groups that are columns, as
/// the four bits of `first | second << 2`.
constexpr KeptBits getCoordinateBits(const KeptBits &stored) {
  const uint64_t *is = stored.element;
  return {{is[1] & ~is[0], ~(is[0] | is[1]), is[3] | ~is[2], is[3] | is[2]}};
}

/// A nibble as a number, of the group whose kept elements are the low four bits
/// of `kept`.
constexpr unsigned getNibble(uint64_t kept) {
  return joinGroups(getCoordinateBits(splitGroups(kept).store())) & 0xF;
}

/// The nibbles in bits 4 row to 4 row + 3 of four choices, side by side: what
/// is kept of a row of four tiles.
constexpr uint64_t getRowOfTiles(uint64_t choices, int64_t row) {
  uint64_t nibbles = choices >> (4 * row) & 0x000F000F000F000F;
  nibbles = (nibbles | nibbles >> 12) & 0x000000FF000000FF;
  return (nibbles | nibbles >> 24) & 0xFFFF;
}

/// The bits column, column + 4, column + 8 and column + 12 of a choice, side by
/// side: what is kept of a column of a tile.
constexpr unsigned getColumnOfTile(unsigned choice, int64_t column) {
  choice = choice >> column & 0x1111;
  return (choice | choice >> 3 | choice >> 6 | choice >> 9) & 0xF;
}

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_GROUPS24_H
