//===- PatternTest.cpp - Patterns that are validated once -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace {

const SparseAutogradLevel csr[] = {{SPARSE_AUTOGRAD_LEVEL_DENSE, 0, 0, 0},
                                   {SPARSE_AUTOGRAD_LEVEL_COMPRESSED, 1, 0, 0}};
const SparseAutogradLevel coo[] = {
    {SPARSE_AUTOGRAD_LEVEL_COMPRESSED | SPARSE_AUTOGRAD_LEVEL_NONUNIQUE, 0, 0,
     0},
    {SPARSE_AUTOGRAD_LEVEL_SINGLETON, 1, 0, 0}};
const SparseAutogradEncoding csrEncoding = {2, csr, 4, 4};
const SparseAutogradEncoding cooEncoding = {2, coo, 8, 4};

/// A 3 x 4 matrix of 4 elements in CSR.
struct CSR {
  int32_t positions[4] = {0, 2, 2, 4};
  int32_t coordinates[4] = {0, 3, 1, 2};
  double values[4] = {1, 2, 3, 4};
  struct {
    SparseAutogradMemRef1 lists[3];
    int64_t extents[2];
  } storage = {{{nullptr, positions, 0, {4}, {1}},
                {nullptr, coordinates, 0, {4}, {1}},
                {nullptr, values, 0, {4}, {1}}},
               {3, 4}};
};

struct Destroy {
  void operator()(SparseAutogradPattern *pattern) const {
    sparseAutogradPatternDestroy(pattern);
  }
};
using Pattern = std::unique_ptr<SparseAutogradPattern, Destroy>;

Pattern makePattern(const void *storage, int32_t ownership,
                    const SparseAutogradEncoding &encoding = csrEncoding) {
  SparseAutogradPattern *pattern = nullptr;
  EXPECT_EQ(
      sparseAutogradPatternCreate("A", &encoding, storage, ownership, &pattern),
      SPARSE_AUTOGRAD_SUCCESS)
      << sparseAutogradLastError();
  return Pattern(pattern);
}

/// An entry that does nothing but check its argument, in CSR.
int32_t checkingEntry(void *const *arguments, void *const *results) {
  return sparseAutogradGuard(
      [](void *const *arguments, void *const *) {
        static const int64_t record[] = {1, 0, 3, 1, 4, 1, 4, 1, 8};
        sparseAutogradBeginEntry(record);
        sparseAutogradCheckArgument("argument 'A'", 0, 2, csr, 4, 4,
                                    arguments[0]);
      },
      arguments, results);
}

int32_t callWith(const SparseAutogradPattern *pattern, void *storage) {
  void *arguments[] = {storage};
  SparseAutogradCall call = {};
  call.argumentCount = 1;
  call.arguments = arguments;
  call.patterns = &pattern;
  return sparseAutogradCall(checkingEntry, &call);
}

int64_t getCheckedBytes() {
  SparseAutogradCallCounters counters;
  sparseAutogradGetCallCounters(&counters);
  return counters.checkedBytes;
}

TEST(Pattern, IsNotValidatedAgain) {
  CSR matrix;
  Pattern pattern = makePattern(&matrix.storage, SPARSE_AUTOGRAD_BORROW);
  sparseAutogradResetCounters();
  EXPECT_EQ(callWith(nullptr, &matrix.storage), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(getCheckedBytes(), 32);
  sparseAutogradResetCounters();
  EXPECT_EQ(callWith(pattern.get(), &matrix.storage), SPARSE_AUTOGRAD_SUCCESS);
  // Other values, elsewhere, with the same pattern.
  double others[4] = {};
  matrix.storage.lists[2].aligned = others;
  EXPECT_EQ(callWith(pattern.get(), &matrix.storage), SPARSE_AUTOGRAD_SUCCESS);
  // The same place by another pointer.
  matrix.storage.lists[1].aligned = matrix.coordinates + 1;
  matrix.storage.lists[1].offset = -1;
  EXPECT_EQ(callWith(pattern.get(), &matrix.storage), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(getCheckedBytes(), 0);
}

TEST(Pattern, IsThatOfTheStorageInEachWord) {
  CSR matrix;
  Pattern pattern = makePattern(&matrix.storage, SPARSE_AUTOGRAD_BORROW);
  int32_t copies[4];
  std::memcpy(copies, matrix.coordinates, sizeof(copies));
  const auto right = matrix.storage;
  auto expectRefused = [&](const char *problem) {
    EXPECT_EQ(callWith(pattern.get(), &matrix.storage),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(sparseAutogradLastError(), problem), nullptr)
        << sparseAutogradLastError();
    matrix.storage = right;
  };
  const char *lists = "positions or coordinates are not the lists of";
  matrix.storage.lists[1].aligned = copies;
  expectRefused(lists);
  matrix.storage.lists[1].strides[0] = 2;
  expectRefused(lists);
  matrix.storage.lists[0].sizes[0] = 3;
  expectRefused(lists);
  matrix.storage.lists[0].offset = 1;
  expectRefused(lists);
  matrix.storage.lists[2].sizes[0] = 5;
  expectRefused("the values are not as many");
  matrix.storage.extents[0] = 2;
  expectRefused("the extents are not those of the pattern");
  // A pattern in another format.
  int64_t positions[2] = {0, 2};
  int32_t rows[2] = {0, 1}, columns[2] = {1, 0};
  struct {
    SparseAutogradMemRef1 lists[4];
    int64_t extents[2];
  } other = {{{nullptr, positions, 0, {2}, {1}},
              {nullptr, rows, 0, {2}, {1}},
              {nullptr, columns, 0, {2}, {1}},
              {nullptr, nullptr, 0, {2}, {1}}},
             {3, 4}};
  // Values do not matter, but their number.
  double values[2];
  other.lists[3].aligned = values;
  pattern = makePattern(&other, SPARSE_AUTOGRAD_BORROW, cooEncoding);
  expectRefused("the pattern has another encoding");
}

TEST(Pattern, OwnsCopies) {
  Pattern pattern;
  {
    CSR matrix;
    // Every second number.
    int32_t wide[8] = {0, 9, 3, 9, 1, 9, 2, 9};
    matrix.storage.lists[1] = {nullptr, wide, 0, {4}, {2}};
    pattern = makePattern(&matrix.storage, SPARSE_AUTOGRAD_COPY);
    std::memset(wide, 0xff, sizeof(wide));
    std::memset(matrix.positions, 0xff, sizeof(matrix.positions));
  }
  CSR matrix;
  int64_t words;
  const void *storage = sparseAutogradPatternStorage(pattern.get(), &words);
  ASSERT_EQ(words, 17);
  std::memcpy(&matrix.storage, storage, 8 * words);
  EXPECT_EQ(matrix.storage.lists[2].aligned, nullptr);
  EXPECT_EQ(matrix.storage.lists[2].sizes[0], 4);
  matrix.storage.lists[2].aligned = matrix.values;
  const auto *coordinates =
      static_cast<const int32_t *>(matrix.storage.lists[1].aligned);
  EXPECT_EQ(std::vector<int32_t>(coordinates, coordinates + 4),
            (std::vector<int32_t>{0, 3, 1, 2}));
  EXPECT_EQ(callWith(pattern.get(), &matrix.storage), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(sparseAutogradCheckStorage(
                "A", 2,
                std::vector<int64_t>{csr[0].format, csr[1].format}.data(),
                matrix.storage.extents, 4, 4, matrix.storage.lists),
            SPARSE_AUTOGRAD_SUCCESS);
}

TEST(Pattern, RefusesWhatIsWrong) {
  CSR matrix;
  SparseAutogradPattern *pattern = nullptr;
  auto expectRefused = [&](const SparseAutogradEncoding *encoding,
                           const void *storage, int32_t ownership,
                           const char *problem) {
    EXPECT_EQ(sparseAutogradPatternCreate("A", encoding, storage, ownership,
                                          &pattern),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_EQ(pattern, nullptr);
    EXPECT_STREQ(sparseAutogradLastError(), problem);
  };
  expectRefused(nullptr, &matrix.storage, 0,
                "A: the pointer to its encoding is null");
  expectRefused(&csrEncoding, nullptr, 0,
                "A: the pointer to its storage is null");
  expectRefused(&csrEncoding, &matrix.storage, 2,
                "A: there is no such ownership");
  EXPECT_EQ(sparseAutogradPatternCreate(nullptr, &csrEncoding, &matrix.storage,
                                        0, nullptr),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  for (int64_t count : {-1, 0, 65}) {
    SparseAutogradEncoding encoding = {count, csr, 4, 4};
    expectRefused(&encoding, &matrix.storage, 0,
                  "A: an encoding has 1 to 64 levels");
  }
  SparseAutogradEncoding encoding = {2, nullptr, 4, 4};
  expectRefused(&encoding, &matrix.storage, 0,
                "A: the pointer to the levels of its encoding is null");
  for (int64_t dimension : {-1, 2}) {
    SparseAutogradLevel levels[] = {csr[0], csr[1]};
    levels[1].dimension = dimension;
    encoding.levels = levels;
    expectRefused(
        &encoding, &matrix.storage, 0,
        "A: a level of its encoding has a dimension that does not exist");
  }
  matrix.coordinates[2] = 4;
  expectRefused(&csrEncoding, &matrix.storage, 0,
                "A: level 1 (compressed): coordinate 2 is 4, not less than the "
                "extent 4");
  sparseAutogradPatternDestroy(nullptr);
  EXPECT_EQ(sparseAutogradPatternStorage(nullptr, nullptr), nullptr);
}

/// COO as an array of pairs: lists with a stride.
TEST(Pattern, TakesStridedCoordinates) {
  int64_t positions[2] = {0, 3};
  int32_t pairs[6] = {0, 1, 0, 3, 2, 0};
  double values[3];
  struct {
    SparseAutogradMemRef1 lists[4];
    int64_t extents[2];
  } storage = {{{nullptr, positions, 0, {2}, {1}},
                {nullptr, pairs, 0, {3}, {2}},
                {nullptr, pairs, 1, {3}, {2}},
                {nullptr, values, 0, {3}, {1}}},
               {3, 4}};
  EXPECT_NE(makePattern(&storage, SPARSE_AUTOGRAD_BORROW, cooEncoding),
            nullptr);
  pairs[2] = 1, pairs[4] = 0;
  SparseAutogradPattern *pattern;
  EXPECT_EQ(
      sparseAutogradPatternCreate("A", &cooEncoding, &storage, 0, &pattern),
      SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "A: level 0 (compressed): coordinate 2 is 0, less than the one "
               "before it, 1: they are not sorted");
}

/// As many elements as several chunks, of any order of rows, with one that is
/// wrong at any of the places that vectors and chunks could miss.
TEST(Pattern, FindsOneElementOfMany) {
  constexpr int64_t rows = 3000, perRow = 211, elements = rows * perRow;
  std::vector<int32_t> positions, coordinates;
  for (int64_t row = 0; row <= rows; ++row)
    positions.push_back(static_cast<int32_t>(row * perRow));
  for (int64_t i = 0; i < elements; ++i)
    coordinates.push_back(static_cast<int32_t>(2 * (i % perRow) + 1));
  std::vector<double> values(elements);
  struct {
    SparseAutogradMemRef1 lists[3];
    int64_t extents[2];
  } storage = {{{nullptr, positions.data(), 0, {rows + 1}, {1}},
                {nullptr, coordinates.data(), 0, {elements}, {1}},
                {nullptr, values.data(), 0, {elements}, {1}}},
               {rows, 2 * perRow}};
  auto isFine = [&] {
    SparseAutogradPattern *pattern = nullptr;
    int32_t status =
        sparseAutogradPatternCreate("A", &csrEncoding, &storage, 0, &pattern);
    sparseAutogradPatternDestroy(pattern);
    return status == SPARSE_AUTOGRAD_SUCCESS;
  };
  EXPECT_TRUE(isFine()) << sparseAutogradLastError();
  constexpr int64_t chunk = int64_t(1) << 18;
  for (int64_t place :
       {int64_t(0), int64_t(1), int64_t(7), perRow - 1, perRow, chunk - 1,
        chunk, chunk + 1, 2 * chunk, 2 * chunk + 1, elements - 1}) {
    int32_t kept = coordinates[place];
    coordinates[place] = 2 * perRow;
    EXPECT_FALSE(isFine()) << place;
    bool isFirst = place % perRow == 0;
    coordinates[place] = isFirst ? kept + 2 : kept - 2;
    EXPECT_FALSE(isFine()) << place;
    coordinates[place] = kept;
  }
  EXPECT_TRUE(isFine());
}

} // namespace
