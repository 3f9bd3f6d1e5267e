//===- CheckStorageTest.cpp - The validator of storage ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "StorageReference.h"

#include <gtest/gtest.h>
#include <numeric>

namespace {

int32_t check(const std::vector<int64_t> &levels, const Coordinates &extents,
              const Storage &storage, int64_t positionBytes = 8,
              int64_t coordinateBytes = 8, const char *name = nullptr) {
  PackedStorage packed(levels, storage, positionBytes, coordinateBytes);
  return sparseAutogradCheckStorage(name, int64_t(levels.size()), levels.data(),
                                    extents.data(), positionBytes,
                                    coordinateBytes, packed.components.data());
}

std::string getProblem(const std::vector<int64_t> &levels,
                       const Coordinates &extents, const Storage &storage,
                       const char *name = nullptr) {
  int32_t status = check(levels, extents, storage, 8, 8, name);
  if (status == SPARSE_AUTOGRAD_SUCCESS)
    return "";
  EXPECT_EQ(status, SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  return sparseAutogradLastError();
}

/// Whether the arrays have the lengths that they tell each other, and what is
/// in them can be read.
bool isValid(const std::vector<int64_t> &levels, const Coordinates &extents,
             const Storage &storage) {
  size_t parents = 1;
  for (size_t level = 0; level < levels.size(); ++level) {
    const std::vector<int64_t> &positions = storage.positions[level];
    if (levels[level] == dense) {
      parents *= extents[level];
      continue;
    }
    if (hasPositions(levels[level])) {
      if (positions.size() != parents + 1 || positions.front() != 0)
        return false;
      parents = positions.back();
    }
    if (storage.coordinates[level].size() != parents)
      return false;
  }
  return storage.values.size() == parents &&
         StorageReader(levels, extents, storage).read();
}

/// Every number of the storage of every pattern is replaced by every other
/// small one, and every array made longer and shorter by one.
TEST(CheckStorage, AcceptsWhatCanBeRead) {
  int64_t accepted = 0, refused = 0;
  for (const StorageFormat &format : getMatrixFormats()) {
    if (std::any_of(format.levels.begin(), format.levels.end(), isLoose))
      continue;
    SCOPED_TRACE(format.name);
    Coordinates extents = format.toExtents({2, 3});
    auto expectSame = [&](const Storage &storage) {
      bool expected = isValid(format.levels, extents, storage);
      ++(expected ? accepted : refused);
      for (int64_t bytes : {1, 4, 8})
        ASSERT_EQ(check(format.levels, extents, storage, bytes, bytes) ==
                      SPARSE_AUTOGRAD_SUCCESS,
                  expected)
            << sparseAutogradLastError();
    };
    for (int pattern = 0; pattern < 64; ++pattern) {
      std::vector<Coordinates> entries;
      for (int64_t place = 0; place < 6; ++place)
        if (pattern >> place & 1)
          entries.push_back(format.toLevels({place / 3, place % 3}));
      Storage storage = StorageBuilder(format.levels, extents).build(entries);
      expectSame(storage);
      for (auto *arrays : {&storage.positions, &storage.coordinates})
        for (std::vector<int64_t> &array : *arrays) {
          for (int64_t &number : array) {
            int64_t kept = number;
            for (number = 0; number < 8; ++number)
              expectSame(storage);
            number = kept;
          }
          bool isPresent =
              arrays == &storage.positions
                  ? hasPositions(format.levels[&array - arrays->data()])
                  : hasCoordinates(format.levels[&array - arrays->data()]);
          if (!isPresent)
            continue;
          for (int64_t number : {0, 1}) {
            array.push_back(number);
            expectSame(storage);
            array.pop_back();
          }
          if (array.empty())
            continue;
          int64_t last = array.back();
          array.pop_back();
          expectSame(storage);
          array.push_back(last);
        }
    }
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 10000);
}

TEST(CheckStorage, NamesWhatIsWrong) {
  Storage csr;
  csr.positions = {{}, {0, 2, 3}};
  csr.coordinates = {{}, {0, 2, 1}};
  csr.values.resize(3);
  const std::vector<int64_t> levels = {dense, compressed};
  const Coordinates extents = {2, 3};
  EXPECT_EQ(getProblem(levels, extents, csr), "");

  Storage bad = csr;
  bad.positions[1] = {0, 2};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): has 2 positions instead of 3");
  EXPECT_EQ(getProblem(levels, extents, bad, "argument 'A'"),
            "argument 'A': level 1 (compressed): has 2 positions instead of 3");
  bad.positions[1] = {1, 2, 3};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): position 0 is 1 instead of 0");
  bad.positions[1] = {0, 4, 3};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): position 2 is 3, less than the one before "
            "it, 4");
  bad.positions[1] = {0, -1, 3};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): position 1 is -1, less than the one before "
            "it, 0");
  bad.positions[1] = {0, 2, 2};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): the last position is 2, but it has 3 "
            "coordinates");

  bad = csr;
  bad.coordinates[1] = {0, 3, 1};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): coordinate 1 is 3, not less than the extent "
            "3");
  bad.coordinates[1] = {-1, 2, 1};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): coordinate 0 is -1, not less than the "
            "extent 3");
  bad.coordinates[1] = {2, 0, 1};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): coordinate 1 is 0, less than the one before "
            "it, 2: they are not sorted");
  bad.coordinates[1] = {2, 2, 1};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (compressed): coordinate 1 is 2, as the one before it, "
            "but must be unique");
  bad = csr;
  bad.values.resize(4);
  EXPECT_EQ(getProblem(levels, extents, bad), "has 4 values instead of 3");
  EXPECT_EQ(getProblem(levels, extents, bad, "A"),
            "A: has 4 values instead of 3");
}

/// Long lists are looked at in pieces; what is wrong at the end of one is seen.
TEST(CheckStorage, LongRows) {
  int64_t piece = int64_t(1) << 20, count = piece + 5;
  Storage storage;
  storage.positions = {{}, {0, count}};
  storage.coordinates = {{}, std::vector<int64_t>(count)};
  storage.values.resize(count);
  std::vector<int64_t> &coordinates = storage.coordinates[1];
  std::iota(coordinates.begin(), coordinates.end(), 0);
  EXPECT_EQ(getProblem({dense, compressed}, {1, count}, storage), "");
  for (int64_t i : {int64_t(0), piece - 1, piece, piece + 1, count - 2}) {
    std::swap(coordinates[i], coordinates[i + 1]);
    std::string problem = getProblem({dense, compressed}, {1, count}, storage);
    std::string expected = "coordinate " + std::to_string(i + 1) + " is " +
                           std::to_string(i) + ", less than";
    EXPECT_NE(problem.find(expected), std::string::npos) << problem;
    std::swap(coordinates[i], coordinates[i + 1]);
  }
}

TEST(CheckStorage, ListsOfCoordinates) {
  Storage coo;
  coo.positions = {{0, 3}, {}};
  coo.coordinates = {{0, 0, 1}, {0, 2, 1}};
  coo.values.resize(3);
  const std::vector<int64_t> levels = {compressed + nonunique, singleton};
  const Coordinates extents = {2, 3};
  EXPECT_EQ(getProblem(levels, extents, coo), "");
  // Unique rows, each with one element.
  EXPECT_EQ(getProblem({compressed, singleton}, extents, coo),
            "level 0 (compressed): coordinate 1 is 0, as the one before it, "
            "but must be unique");
  Storage bad = coo;
  bad.coordinates[1] = {2, 0, 1};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (singleton): coordinate 1 is 0, less than the one before "
            "it, 2: they are not sorted");
  bad.coordinates[1] = {2, 2, 1};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (singleton): coordinate 1 is 2, as the one before it, but "
            "must be unique");
  bad.coordinates[1] = {0, 2};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (singleton): has 2 coordinates instead of 3");
  bad.coordinates[1] = {0, 2, 3};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (singleton): coordinate 2 is 3, not less than the extent "
            "3");
  // Even where no level says so, no coordinate is given twice.
  EXPECT_EQ(getProblem({dense, compressed + nonunique}, {1, 3},
                       {{{}, {0, 2}}, {{}, {1, 1}}, {{}, {}}}),
            "level 1 (compressed): coordinate 1 is 1, as the one before it, "
            "but must be unique");
}

TEST(CheckStorage, ListsOfThreeCoordinates) {
  Storage coo;
  coo.positions = {{0, 2}, {}, {}};
  coo.coordinates = {{0, 1}, {3, 0}, {2, 0}};
  coo.values.resize(2);
  const std::vector<int64_t> levels = {compressed + nonunique,
                                       singleton + nonunique, singleton};
  const Coordinates extents = {2, 4, 3};
  EXPECT_EQ(getProblem(levels, extents, coo), "");
  Storage bad = coo;
  bad.coordinates[1][0] = 4;
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (singleton): coordinate 0 is 4, not less than the extent "
            "4");
  bad = coo;
  bad.coordinates = {{1, 1}, {0, 0}, {2, 2}};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 2 (singleton): coordinate 1 is 2, as the one before it, but "
            "must be unique");
  // The first of those that say so.
  EXPECT_EQ(getProblem({compressed, singleton, singleton}, extents, bad),
            "level 0 (compressed): coordinate 1 is 1, as the one before it, "
            "but must be unique");
}

TEST(CheckStorage, LooseLevels) {
  Storage storage;
  storage.positions = {{}, {1, 2, 4, 6}};
  // What lies between is not looked at.
  storage.coordinates = {{}, {9, 2, 9, 9, 0, 1, 9}};
  storage.values.resize(7);
  const std::vector<int64_t> levels = {dense, loose};
  const Coordinates extents = {2, 3};
  EXPECT_EQ(getProblem(levels, extents, storage), "");
  Storage bad = storage;
  bad.positions[1] = {1, 2, 4, 8};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (loose_compressed): the last position is 8, but it has 7 "
            "coordinates");
  bad.positions[1] = {1, 5, 4, 6};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (loose_compressed): position 2 is 4, less than the one "
            "before it, 5");
  bad.positions[1] = {-1, 2, 4, 6};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (loose_compressed): position 0 is -1, less than the one "
            "before it, 0");
  bad.positions[1] = {1, 2, 4};
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (loose_compressed): has 3 positions instead of 4");
  bad = storage;
  bad.coordinates[1][5] = 0;
  EXPECT_EQ(getProblem(levels, extents, bad),
            "level 1 (loose_compressed): coordinate 5 is 0, as the one before "
            "it, but must be unique");
}

TEST(CheckStorage, WhatIsNoEncoding) {
  Storage none;
  none.positions.resize(2);
  none.coordinates.resize(2);
  EXPECT_EQ(getProblem({}, {}, none), "storage of 0 levels");
  EXPECT_EQ(getProblem({dense, singleton}, {2, 3}, none),
            "level 1: the format 3 with the extent 3 does not exist, or not "
            "after the levels before it");
  int64_t large = int64_t(1) << 40;
  EXPECT_EQ(getProblem({dense, dense}, {large, large}, none),
            "level 1 (dense): the product of the extents overflows");
  EXPECT_EQ(check({compressed}, {3}, none, 3, 8),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(), "there are no numbers of 3 bytes");
  EXPECT_EQ(check({compressed}, {3}, none, 8, 0),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

TEST(CheckStorage, NullPointersAndStrides) {
  const int64_t formats[] = {compressed}, extents[] = {4};
  int64_t positions[] = {7, 0, 7, 2};
  int32_t coordinates[] = {3, 1};
  SparseAutogradMemRef1 components[] = {{nullptr, positions, 1, {2}, {2}},
                                        {nullptr, coordinates, 1, {2}, {-1}},
                                        {nullptr, nullptr, 0, {2}, {1}}};
  auto check = [&](const char *name = nullptr) {
    return sparseAutogradCheckStorage(name, 1, formats, extents, 8, 4,
                                      components);
  };
  EXPECT_EQ(check(), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(), "the pointer to its values is null");
  components[2].aligned = coordinates;
  EXPECT_EQ(check(), SPARSE_AUTOGRAD_SUCCESS);
  components[2].sizes[0] = -2;
  EXPECT_EQ(check(), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  components[2].sizes[0] = 2;
  components[1].aligned = nullptr;
  EXPECT_EQ(check(), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "level 0 (compressed): the pointer to its coordinates is null");
  // A message that is too long is cut.
  std::string name(5000, 'x');
  EXPECT_EQ(check(name.c_str()), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(std::strlen(sparseAutogradLastError()), 1023u);
}

TEST(CheckStorage, ListsThatAreMissing) {
  const int64_t formats[] = {compressed}, extents[] = {4};
  int64_t positions[] = {0, 0};
  SparseAutogradMemRef1 components[] = {{nullptr, positions, 0, {2}, {1}},
                                        {nullptr, nullptr, 0, {0}, {1}},
                                        {nullptr, nullptr, 0, {0}, {1}}};
  auto check = [&](int64_t levels, const int64_t *ofFormats,
                   const int64_t *ofExtents,
                   const SparseAutogradMemRef1 *ofComponents) {
    return sparseAutogradCheckStorage(nullptr, levels, ofFormats, ofExtents, 8,
                                      4, ofComponents);
  };
  EXPECT_EQ(check(1, formats, extents, components), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(check(1, nullptr, extents, components),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(), "the pointer to its formats is null");
  EXPECT_EQ(check(1, formats, nullptr, components),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(check(1, formats, extents, nullptr),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  // More than any tensor has: what would be read there is unknown.
  EXPECT_EQ(check(65, formats, extents, components),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  // A list of nothing is not looked at.
  components[1].offset = components[2].offset = INT64_MAX;
  components[1].strides[0] = INT64_MIN;
  EXPECT_EQ(check(1, formats, extents, components), SPARSE_AUTOGRAD_SUCCESS);
}

TEST(CheckStorage, AddressesThatCannotBe) {
  const int64_t formats[] = {compressed}, extents[] = {4};
  int64_t positions[] = {0, 2, 0};
  int32_t coordinates[] = {1, 3, 0};
  auto check = [&](int64_t list, auto change) {
    SparseAutogradMemRef1 components[] = {{nullptr, positions, 0, {2}, {1}},
                                          {nullptr, coordinates, 0, {2}, {1}},
                                          {nullptr, coordinates, 0, {2}, {1}}};
    change(components[list]);
    int32_t status = sparseAutogradCheckStorage(nullptr, 1, formats, extents, 8,
                                                4, components);
    return status == SPARSE_AUTOGRAD_SUCCESS
               ? std::string("valid")
               : std::string(sparseAutogradLastError());
  };
  auto move = [](int64_t bytes) {
    return [bytes](SparseAutogradMemRef1 &list) {
      list.aligned = static_cast<char *>(list.aligned) + bytes;
    };
  };
  EXPECT_EQ(check(0, move(0)), "valid");
  EXPECT_EQ(check(0, move(1)), "level 0 (compressed): the pointer to its "
                               "positions is not aligned to 8 bytes");
  EXPECT_EQ(check(1, move(2)), "level 0 (compressed): the pointer to its "
                               "coordinates is not aligned to 4 bytes");
  const char *overflows =
      "level 0 (compressed): the offset or the stride of its positions "
      "overflows";
  for (int64_t offset : {INT64_MAX, INT64_MIN, INT64_MAX / 8, INT64_MIN / 4})
    EXPECT_EQ(
        check(0, [=](SparseAutogradMemRef1 &list) { list.offset = offset; }),
        overflows)
        << offset;
  for (int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 8, INT64_MIN / 4})
    EXPECT_EQ(
        check(0,
              [=](SparseAutogradMemRef1 &list) { list.strides[0] = stride; }),
        overflows)
        << stride;
}

/// Everything is looked at where it is, whatever the offsets and the strides.
TEST(CheckStorage, EveryOffsetAndStride) {
  const int64_t formats[] = {compressed + nonunique, singleton};
  const int64_t extents[] = {3, 4};
  // Right, then wrong in the last position, the order of rows, that of columns
  // and the range of columns.
  const std::vector<int64_t> right[] = {{0, 3}, {0, 0, 2}, {1, 3, 0}};
  std::vector<std::vector<std::vector<int64_t>>> cases(
      5, {std::begin(right), std::end(right)});
  cases[1][0][1] = 2;
  cases[2][1] = {2, 0, 0};
  cases[3][2] = {3, 1, 0};
  cases[4][2] = {1, 4, 0};
  for (size_t number = 0; number < cases.size(); ++number)
    for (int64_t offset : {0, 2})
      // A stride for each of the arrays.
      for (int64_t strides = 0; strides < 27; ++strides) {
        std::vector<std::vector<int64_t>> arrays;
        std::vector<SparseAutogradMemRef1> components;
        for (int64_t i = 0, rest = strides; i < 3; ++i, rest /= 3) {
          const std::vector<int64_t> &numbers = cases[number][i];
          int64_t size = static_cast<int64_t>(numbers.size());
          const int64_t choices[] = {1, 2, -1};
          int64_t stride = choices[rest % 3];
          int64_t first = offset + (stride < 0 ? size - 1 : 0);
          // What lies between would be wrong.
          arrays.emplace_back(offset + 2 * size, 77);
          for (int64_t at = 0; at < size; ++at)
            arrays.back()[first + at * stride] = numbers[at];
          components.push_back(
              {nullptr, arrays.back().data(), first, {size}, {stride}});
        }
        components.push_back({nullptr, arrays.back().data(), 0, {3}, {1}});
        EXPECT_EQ(sparseAutogradCheckStorage(nullptr, 2, formats, extents, 8, 8,
                                             components.data()) ==
                      SPARSE_AUTOGRAD_SUCCESS,
                  number == 0)
            << "case " << number << ", strides " << strides;
      }
}

/// One array is wrong with its stride, and would be right without.
TEST(CheckStorage, EachArrayHasItsOwnStride) {
  const int64_t formats[] = {compressed + nonunique, singleton};
  const int64_t extents[] = {3, 4};
  int64_t right[3][5] = {{0, 3}, {0, 0, 2}, {1, 3, 0}};
  int64_t wrong[3][5] = {{0, 3, 2}, {0, 0, 2, 0, 0}, {1, 3, 0, 0, 0}};
  for (int strided = -1; strided < 3; ++strided) {
    std::vector<SparseAutogradMemRef1> components;
    for (int i = 0; i < 3; ++i)
      components.push_back({nullptr,
                            i == strided ? wrong[i] : right[i],
                            0,
                            {i == 0 ? 2 : 3},
                            {i == strided ? 2 : 1}});
    components.push_back({nullptr, right, 0, {3}, {1}});
    EXPECT_EQ(sparseAutogradCheckStorage(nullptr, 2, formats, extents, 8, 8,
                                         components.data()) ==
                  SPARSE_AUTOGRAD_SUCCESS,
              strided < 0)
        << "array " << strided;
  }
}

/// What an entry asks about an argument.
TEST(CheckArgument, FindsTheExtentsOfLevels) {
  // Blocks of 2 by 2 in 3 by 5: 2 by 3 blocks.
  const SparseAutogradLevel levels[] = {{dense, 0, 2, 0},
                                        {compressed, 1, 2, 0},
                                        {dense, 0, 2, 1},
                                        {dense, 1, 2, 1}};
  Storage storage;
  storage.positions = {{}, {0, 1, 2}, {}, {}};
  storage.coordinates = {{}, {2, 0}, {}, {}};
  storage.values.resize(8);
  auto check = [&] {
    PackedStorage packed({dense, compressed, dense, dense}, storage, 4, 2);
    std::vector<int64_t> words(5 * packed.components.size());
    std::memcpy(words.data(), packed.components.data(), 8 * words.size());
    words.insert(words.end(), {3, 5});
    return runEntry([&] {
      sparseAutogradCheckArgument("A", 0, 4, levels, 4, 2, words.data());
    });
  };
  EXPECT_EQ(check(), SPARSE_AUTOGRAD_SUCCESS);
  storage.coordinates[1][0] = 3;
  EXPECT_EQ(check(), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "A: level 1 (compressed): coordinate 0 is 3, not less than the "
               "extent 3");
  storage.coordinates[1][0] = 2;
  storage.values.resize(9);
  EXPECT_EQ(check(), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(), "A: has 9 values instead of 8");
  // One level, and as many as there can be.
  for (int64_t count : {1, 64}) {
    std::vector<int64_t> words = {0, 0, 0, 1, 1, 2};
    int64_t value = 0;
    words[1] = reinterpret_cast<int64_t>(&value);
    std::vector<SparseAutogradLevel> one(count);
    EXPECT_EQ(runEntry([&] {
                sparseAutogradCheckArgument("A", 0, count, one.data(), 4, 2,
                                            words.data());
              }),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    words[5] = 1;
    EXPECT_EQ(runEntry([&] {
                sparseAutogradCheckArgument("A", 0, count, one.data(), 4, 2,
                                            words.data());
              }),
              SPARSE_AUTOGRAD_SUCCESS)
        << sparseAutogradLastError();
  }
  for (int64_t count : {-1, 0, 65})
    EXPECT_EQ(runEntry([&] {
                sparseAutogradCheckArgument("A", 0, count, levels, 4, 2,
                                            nullptr);
              }),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

} // namespace
