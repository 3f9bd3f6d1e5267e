//===- MaskedRowsTest.cpp - rows without what a mask leaves out -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskedRows.h"
#include "Entry.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

using namespace sparse_autograd::runtime;

namespace {
/// Bytes that end where their allocation ends, so that a sanitizer sees what
/// is read or written beyond, and that differ from each other.
std::vector<uint8_t> makeBytes(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t &byte : bytes)
    byte = 1 + random() % 255;
  return bytes;
}

std::vector<uint8_t> makeMask(int64_t count, int percent, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> mask(count);
  for (uint8_t &bit : mask)
    bit = static_cast<int>(random() % 100) < percent;
  return mask;
}

std::vector<VectorInstructions> getAvailable() {
  std::vector<VectorInstructions> result;
  for (VectorInstructions each :
       {VectorInstructions::none, VectorInstructions::avx2,
        VectorInstructions::avx512})
    if (each <= getVectorInstructions())
      result.push_back(each);
  return result;
}

/// For each kind of instructions, size of elements, length, and density.
template <typename Function>
void forEachRow(const Function &function) {
  for (VectorInstructions instructions : getAvailable())
    for (int64_t bytes : {4, 8})
      for (int64_t count : {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200, 2100})
        for (int percent : {0, 10, 50, 90, 100}) {
          SCOPED_TRACE(testing::Message()
                       << "instructions " << int(instructions) << ", " << count
                       << " elements of " << bytes << " bytes, " << percent
                       << " % selected");
          function(instructions, bytes, count,
                   makeMask(count, percent, count + percent));
        }
}
} // namespace

TEST(MaskedRows, CompressedRowsHaveTheSelectedElements) {
  forEachRow([](VectorInstructions instructions, int64_t bytes, int64_t count,
                const std::vector<uint8_t> &mask) {
    std::vector<uint8_t> source = makeBytes(count * bytes, 1), expected;
    for (int64_t i = 0; i < count; ++i)
      if (mask[i])
        expected.insert(expected.end(), source.begin() + i * bytes,
                        source.begin() + (i + 1) * bytes);
    std::vector<uint8_t> result(count * bytes + 64, 0);
    EXPECT_EQ(compressRow(instructions, result.data(), source.data(),
                          mask.data(), count, bytes) *
                  bytes,
              int64_t(expected.size()));
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), result.begin()));
    // Nothing behind the room for all of the row.
    EXPECT_TRUE(std::all_of(result.begin() + count * bytes, result.end(),
                            [](uint8_t byte) { return byte == 0; }));
  });
}

TEST(MaskedRows, ExpandedRowsAreZeroElsewhere) {
  forEachRow([](VectorInstructions instructions, int64_t bytes, int64_t count,
                const std::vector<uint8_t> &mask) {
    std::vector<uint8_t> source = makeBytes(count * bytes, 2);
    std::vector<uint8_t> expected(count * bytes, 0);
    int64_t next = 0;
    for (int64_t i = 0; i < count; ++i)
      if (mask[i])
        std::memcpy(&expected[i * bytes], &source[next++ * bytes], bytes);
    for (bool isLarge : {false, true})
      // From where a line begins, and from behind that.
      for (int64_t first : {int64_t(0), bytes, 5 * bytes}) {
        std::vector<uint8_t> result(count * bytes + 256, 0xee);
        auto address = reinterpret_cast<uintptr_t>(result.data());
        uint8_t *row = result.data() + (-address & 63) + first;
        expandRow(instructions, row, source.data(), mask.data(), count, bytes,
                  isLarge);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), row))
            << "large " << isLarge << ", first " << first;
        auto isUntouched = [](uint8_t byte) { return byte == 0xee; };
        EXPECT_TRUE(std::all_of(result.data(), row, isUntouched));
        EXPECT_TRUE(std::all_of(row + count * bytes,
                                result.data() + result.size(), isUntouched));
      }
  });
}

TEST(MaskedRows, EstimatesAreExactForFewAndCloseForMany) {
  for (int64_t count : {0, 1, 100, 4096})
    for (int percent : {0, 30, 100}) {
      std::vector<uint8_t> mask = makeMask(count, percent, 7);
      EXPECT_EQ(sparseAutogradEstimateSelected(mask.data(), count),
                std::count(mask.begin(), mask.end(), 1));
    }
  constexpr int64_t rows = 512, columns = 4096;
  std::vector<uint8_t> mask(rows * columns);
  auto estimate = [&](auto select) {
    for (int64_t i = 0; i < rows * columns; ++i)
      mask[i] = select(i / columns, i % columns);
    return double(sparseAutogradEstimateSelected(mask.data(), rows * columns)) /
           (rows * columns);
  };
  std::mt19937 random(3);
  EXPECT_NEAR(estimate([&](int64_t, int64_t) { return random() % 10 == 0; }),
              0.1, 0.03);
  // Padded columns, padded rows, and a triangle.
  EXPECT_NEAR(estimate([&](int64_t, int64_t j) { return j < columns / 4; }),
              0.25, 0.1);
  EXPECT_NEAR(estimate([&](int64_t i, int64_t) { return i < rows / 4; }), 0.25,
              0.1);
  EXPECT_NEAR(estimate([&](int64_t i, int64_t j) { return j / 8 <= i; }), 0.5,
              0.1);
}

TEST(MaskedRows, OtherSizesOfElementsAreRefused) {
  uint8_t mask = 1;
  char element[16] = {};
  for (bool expands : {false, true}) {
    EXPECT_EQ(runEntry([&] {
                if (expands)
                  sparseAutogradExpandRow(element, element, &mask, 1, 16, 16);
                else
                  sparseAutogradCompressRow(element, element, &mask, 1, 16);
              }),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_STREQ(sparseAutogradLastError(),
                 "this operation takes no elements of 16 bytes");
  }
}
