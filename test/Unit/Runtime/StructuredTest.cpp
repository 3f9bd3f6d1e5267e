//===- StructuredTest.cpp - Two elements of each four -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "SparseAutograd/Runtime/CompilerABI.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

constexpr int64_t rows = 2, groups = 3;
constexpr int64_t levels[] = {SPARSE_AUTOGRAD_LEVEL_DENSE,
                              SPARSE_AUTOGRAD_LEVEL_DENSE,
                              SPARSE_AUTOGRAD_LEVEL_STRUCTURED_2_4};
constexpr int64_t extents[] = {rows, groups, 4};

/// The two coordinates of a group that stores the elements of `mask`: those,
/// and what is missing of two from the end.
std::vector<int64_t> getStored(int mask) {
  std::vector<int64_t> stored;
  for (int64_t missing = 2 - __builtin_popcount(mask), at = 3; at >= 0; --at)
    if (mask >> at & 1 || missing-- > 0)
      stored.insert(stored.begin(), at);
  return stored;
}

/// The storage of a matrix, and where the values of its entries are.
struct Stored {
  int32_t status;
  std::vector<int64_t> counts, slots;
  std::vector<uint8_t> bytes;
};

/// Stores the elements of a mask for each group.
Stored store(const std::vector<int> &masks) {
  std::vector<int64_t> coordinates, order;
  for (size_t group = 0; group < masks.size(); ++group)
    for (int64_t at = 0; at < 4; ++at)
      if (masks[group] >> at & 1) {
        order.push_back(static_cast<int64_t>(order.size()));
        auto place = static_cast<int64_t>(group);
        coordinates.insert(coordinates.end(),
                           {place / groups, place % groups, at});
      }
  Stored stored = {0, std::vector<int64_t>(3), {}, std::vector<uint8_t>(3)};
  stored.slots.assign(order.size(), -1);
  void *lists[] = {nullptr, nullptr, stored.bytes.data()};
  auto count = static_cast<int64_t>(order.size());
  stored.status = runEntry([&] {
    sparseAutogradCountPositions(count, 3, levels, extents, coordinates.data(),
                                 order.data(), stored.counts.data());
    sparseAutogradStorePositions(count, 3, levels, extents, coordinates.data(),
                                 order.data(), 8, 8, lists, lists,
                                 stored.slots.data());
  });
  return stored;
}

std::string check(std::vector<uint8_t> bytes, int64_t stride = 1,
                  int64_t values = 12) {
  auto size = static_cast<int64_t>(bytes.size()) / stride;
  SparseAutogradMemRef1 components[] = {
      {bytes.data(), bytes.data(), 0, {size}, {stride}},
      {bytes.data(), bytes.data(), 0, {values}, {1}}};
  int32_t status =
      sparseAutogradCheckStorage("w", 3, levels, extents, 8, 8, components);
  return status == SPARSE_AUTOGRAD_SUCCESS ? "" : sparseAutogradLastError();
}

// Every mask of a group, in every group, beside every mask of the next one.
TEST(Structured, EveryMaskOfAGroup) {
  for (int64_t group = 0; group < rows * groups; ++group)
    for (int mask = 0; mask < 16; ++mask)
      for (int next = 0; next < 16; ++next) {
        std::vector<int> masks(rows * groups, 0);
        masks[(group + 1) % masks.size()] = next;
        masks[group] = mask;
        Stored stored = store(masks);
        std::vector<int64_t> wrong;
        for (size_t i = 0; i < masks.size(); ++i)
          if (__builtin_popcount(masks[i]) > 2)
            wrong.push_back(static_cast<int64_t>(i));
        if (!wrong.empty()) {
          ASSERT_EQ(stored.status, SPARSE_AUTOGRAD_INVALID_ARGUMENT);
          EXPECT_EQ(sparseAutogradLastError(),
                    "level 2: group " + std::to_string(wrong[0] % groups) +
                        " of row " + std::to_string(wrong[0] / groups) +
                        " stores more than 2 of its 4 elements; set the others "
                        "to zero before, or store the tensor in another "
                        "format");
          continue;
        }
        ASSERT_EQ(stored.status, SPARSE_AUTOGRAD_SUCCESS);
        EXPECT_EQ(stored.counts, (std::vector<int64_t>{2, 6, 12}));
        std::vector<uint8_t> bytes(3);
        std::vector<int64_t> slots;
        for (size_t i = 0; i < masks.size(); ++i) {
          std::vector<int64_t> two = getStored(masks[i]);
          bytes[i / 2] |= (two[0] | two[1] << 2) << (4 * (i % 2));
          for (int64_t at : {0, 1})
            if (masks[i] >> two[at] & 1)
              slots.push_back(2 * static_cast<int64_t>(i) + at);
        }
        EXPECT_EQ(stored.bytes, bytes);
        EXPECT_EQ(stored.slots, slots);
        EXPECT_EQ(check(stored.bytes), "");
      }
}

TEST(Structured, EmptyTensorsAndOddNumbersOfGroups) {
  // One group, of which the other half of the byte is no one's.
  const int64_t one[] = {1, 1, 4};
  uint8_t byte = 0;
  void *lists[] = {nullptr, nullptr, &byte};
  int64_t counts[3] = {};
  EXPECT_EQ(runEntry([&] {
              sparseAutogradCountPositions(0, 3, levels, one, nullptr, nullptr,
                                           counts);
              sparseAutogradStorePositions(0, 3, levels, one, nullptr, nullptr,
                                           8, 8, lists, lists, nullptr);
            }),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(counts[2], 2);
  EXPECT_EQ(byte, 0xEE);
  const int64_t other[] = {1, 1, 3};
  EXPECT_EQ(runEntry([&] {
              sparseAutogradCountPositions(0, 3, levels, other, nullptr,
                                           nullptr, counts);
            }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

// Every nibble in every place, contiguous or not.
TEST(Structured, EveryNibble) {
  for (int64_t stride : {1, 2})
    for (int64_t group = 0; group < rows * groups; ++group)
      for (int nibble = 0; nibble < 16; ++nibble) {
        std::vector<uint8_t> bytes(3 * stride, 0x4E);
        uint8_t &byte = bytes[group / 2 * stride];
        byte = group % 2 ? nibble << 4 | (byte & 0xF) : nibble | (byte & 0xF0);
        bool isLegal = nibble == 0x4 || nibble == 0x8 || nibble == 0xC ||
                       nibble == 0x9 || nibble == 0xD || nibble == 0xE;
        EXPECT_EQ(check(bytes, stride),
                  isLegal ? ""
                          : "w: level 2 (structured[2, 4]): group " +
                                std::to_string(group % groups) + " of row " +
                                std::to_string(group / groups) +
                                " has the coordinate " +
                                std::to_string(nibble >> 2) + " after " +
                                std::to_string(nibble & 3) +
                                ": they must increase");
      }
}

TEST(Structured, Lengths) {
  EXPECT_EQ(check({0xEE, 0xEE}),
            "w: level 2 (structured[2, 4]): has 2 bytes of coordinates instead "
            "of 3");
  EXPECT_EQ(check({0xEE, 0xEE, 0xEE}, 1, 11), "w: has 11 values instead of 12");
}

} // namespace
