//===- SparseStorageTest.cpp - Sorting and storing entries ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "StorageReference.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

namespace {

std::vector<int64_t> flatten(const std::vector<Coordinates> &entries) {
  std::vector<int64_t> flat;
  for (const Coordinates &entry : entries)
    flat.insert(flat.end(), entry.begin(), entry.end());
  return flat;
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// The order by the runtime is the stable one, and nothing stays allocated.
void expectSorted(const std::vector<int64_t> &flat, int64_t levels) {
  int64_t count = static_cast<int64_t>(flat.size()) / levels;
  std::vector<int64_t> expected(count), order(count, -1);
  std::iota(expected.begin(), expected.end(), 0);
  auto precedes = [&](int64_t a, int64_t b) {
    auto first = flat.begin() + a * levels, second = flat.begin() + b * levels;
    auto [x, y] = std::mismatch(first, first + levels, second);
    return x == first + levels ? a < b : *x < *y;
  };
  std::sort(expected.begin(), expected.end(), precedes);
  int64_t live = counters().liveBlocks;
  ASSERT_EQ(runEntry([&] {
              sparseAutogradSortEntries(count, levels, flat.data(),
                                        order.data());
            }),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_TRUE(order == expected) << count << " entries of " << levels;
  EXPECT_EQ(counters().liveBlocks, live);
}

TEST(SortEntries, EveryShortList) {
  // All lists of up to four entries of two coordinates out of three numbers.
  for (int64_t count = 0; count <= 4; ++count) {
    int64_t lists = 1;
    for (int64_t i = 0; i < 2 * count; ++i)
      lists *= 3;
    for (int64_t list = 0; list < lists; ++list) {
      std::vector<int64_t> flat;
      for (int64_t i = 0, rest = list; i < 2 * count; ++i, rest /= 3)
        flat.push_back(rest % 3);
      expectSorted(flat, 2);
    }
  }
}

TEST(SortEntries, ManyEntriesOfEveryWidth) {
  std::mt19937_64 random(1);
  for (int64_t levels : {1, 2, 3, 5})
    for (int bits : {1, 7, 8, 9, 16, 17, 31, 32, 33, 48, 62, 63}) {
      std::vector<int64_t> flat(20000 * levels);
      for (int64_t &coordinate : flat)
        coordinate = static_cast<int64_t>(random() >> (64 - bits));
      expectSorted(flat, levels);
    }
}

TEST(SortEntries, OneDigitDiffersInTheMiddle) {
  std::vector<int64_t> flat;
  for (int64_t i = 0; i < 1000; ++i)
    flat.push_back((int64_t(1) << 60) + (((i * 7919) % 256) << 24) + 5);
  expectSorted(flat, 1);
}

TEST(SortEntries, SortedAndReversed) {
  std::vector<int64_t> flat;
  for (int64_t i = 0; i < 300; ++i)
    for (int64_t j = 0; j < 300; ++j)
      flat.insert(flat.end(), {i, j});
  SparseAutogradCounters before = counters();
  expectSorted(flat, 2);
  EXPECT_EQ(counters().allocations, before.allocations);
  std::reverse(flat.begin(), flat.end());
  expectSorted(flat, 2);
  EXPECT_GT(counters().allocations, before.allocations);
}

TEST(SortEntries, SortedByTheLastLevels) {
  // As in a transposition: by some levels the entries are in order already.
  std::mt19937_64 random(3);
  for (int64_t first : {2, 300, 5000, 1 << 20})
    for (int64_t levels : {2, 3}) {
      std::vector<int64_t> flat;
      for (int64_t i = 0; i < 40; ++i)
        for (int64_t j = 0; j < 50; ++j) {
          for (int64_t level = 2; level < levels; ++level)
            flat.push_back(static_cast<int64_t>(random() % 5));
          flat.insert(flat.end(), {static_cast<int64_t>(random() % first), i});
        }
      expectSorted(flat, levels);
    }
}

TEST(SortEntries, RefusesWhatIsNoList) {
  int64_t order = 7;
  EXPECT_EQ(
      runEntry([&] { sparseAutogradSortEntries(-1, 2, nullptr, &order); }),
      SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "a list of -1 entries of 2 coordinates");
  EXPECT_EQ(runEntry([&] { sparseAutogradSortEntries(1, 0, nullptr, &order); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(order, 7);
}

TEST(SortEntries, MemoryThatCannotBeHad) {
  std::vector<int64_t> flat(20000), order(20000);
  std::iota(flat.rbegin(), flat.rend(), 0);
  int64_t live = counters().liveBlocks;
  // By counting, and by digits.
  for (auto [levels, limit] : {std::pair(1, 100000), std::pair(2, 200000)}) {
    sparseAutogradTrimPool();
    sparseAutogradSetMemoryLimit(counters().liveBytes + limit);
    int32_t status = runEntry([&] {
      sparseAutogradSortEntries(20000 / levels, levels, flat.data(),
                                order.data());
    });
    sparseAutogradSetMemoryLimit(-1);
    EXPECT_EQ(status, SPARSE_AUTOGRAD_OUT_OF_MEMORY) << levels;
    EXPECT_EQ(counters().liveBlocks, live);
  }
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// Entries, stored by the runtime.
class Stored {
public:
  Stored(const std::vector<int64_t> &formats, const Coordinates &extents,
         const std::vector<Coordinates> &entries)
      : formats(formats), extents(extents), flat(flatten(entries)),
        count(static_cast<int64_t>(entries.size())),
        levels(static_cast<int64_t>(formats.size())) {
    order.resize(count);
    elementCounts.resize(levels, -1);
    slots.resize(count, -1);
  }

  int32_t sort() {
    return runEntry([&] {
      sparseAutogradSortEntries(count, levels, flat.data(), order.data());
    });
  }

  int32_t countElements() {
    return runEntry([&] {
      sparseAutogradCountPositions(count, levels, formats.data(),
                                   extents.data(), flat.data(), order.data(),
                                   elementCounts.data());
    });
  }

  /// With guards around each array.
  int32_t store(int64_t positionBytes, int64_t coordinateBytes) {
    std::vector<void *> positions, coordinates;
    positionArrays.assign(levels, {});
    coordinateArrays.assign(levels, {});
    int64_t parents = 1;
    for (int64_t level = 0; level < levels; ++level) {
      int64_t number = isLoose(formats[level])        ? 2 * parents
                       : hasPositions(formats[level]) ? parents + 1
                                                      : -1;
      positions.push_back(
          allocate(positionArrays[level], number, positionBytes));
      parents = elementCounts[level];
      coordinates.push_back(allocate(
          coordinateArrays[level],
          hasCoordinates(formats[level]) ? parents : -1, coordinateBytes));
    }
    return runEntry([&] {
      sparseAutogradStorePositions(
          count, levels, formats.data(), extents.data(), flat.data(),
          order.data(), positionBytes, coordinateBytes, positions.data(),
          coordinates.data(), slots.data());
    });
  }

  void expect(const Storage &expected, int64_t positionBytes,
              int64_t coordinateBytes) {
    for (int64_t level = 0; level < levels; ++level) {
      if (hasPositions(formats[level]))
        expectArray(positionArrays[level], expected.positions[level],
                    positionBytes);
      if (hasCoordinates(formats[level])) {
        EXPECT_EQ(elementCounts[level],
                  int64_t(expected.coordinates[level].size()));
        expectArray(coordinateArrays[level], expected.coordinates[level],
                    coordinateBytes);
      }
    }
    EXPECT_EQ(elementCounts.back(), int64_t(expected.values.size()));
    std::vector<int64_t> expectedSlots(count, -1);
    for (size_t slot = 0; slot < expected.values.size(); ++slot)
      for (int64_t entry : expected.values[slot])
        expectedSlots[entry] = static_cast<int64_t>(slot);
    EXPECT_EQ(slots, expectedSlots);
  }

  std::vector<int64_t> formats, extents, flat;
  int64_t count, levels;
  std::vector<int64_t> order, elementCounts, slots;

private:
  static constexpr size_t guardBytes = 16;

  static void *allocate(std::vector<char> &array, int64_t number,
                        int64_t bytes) {
    if (number < 0)
      return nullptr;
    array.assign(number * bytes + 2 * guardBytes, '\x5a');
    return array.data() + guardBytes;
  }

  static void expectArray(const std::vector<char> &array,
                          const std::vector<int64_t> &numbers, int64_t bytes) {
    std::vector<char> expected(guardBytes, '\x5a');
    for (int64_t number : numbers) {
      auto *data = reinterpret_cast<const char *>(&number);
      expected.insert(expected.end(), data, data + bytes);
    }
    expected.insert(expected.end(), guardBytes, '\x5a');
    EXPECT_EQ(array, expected);
  }

  std::vector<std::vector<char>> positionArrays, coordinateArrays;
};

/// Entries of all patterns of 2 x 3, in an order that is none; in every other
/// one an entry is given twice.
std::vector<std::vector<Coordinates>> getPatterns() {
  std::vector<std::vector<Coordinates>> patterns;
  for (int pattern = 0; pattern < 64; ++pattern) {
    std::vector<Coordinates> entries;
    for (int i = 0; i < 6; ++i) {
      int place = i * 5 % 6;
      if (pattern >> place & 1)
        entries.push_back({place / 3, place % 3});
    }
    patterns.push_back(entries);
    if (!entries.empty()) {
      entries.push_back(entries[entries.size() / 2]);
      patterns.push_back(entries);
    }
  }
  return patterns;
}

void expectStored(const StorageFormat &format, const Coordinates &extents,
                  const std::vector<Coordinates> &entries) {
  Coordinates levelExtents = format.toExtents(extents);
  std::vector<Coordinates> levelEntries;
  for (const Coordinates &entry : entries)
    levelEntries.push_back(format.toLevels(entry));
  Storage expected =
      StorageBuilder(format.levels, levelExtents).build(levelEntries);
  Stored stored(format.levels, levelExtents, levelEntries);
  int64_t live = counters().liveBlocks;
  ASSERT_EQ(stored.sort(), SPARSE_AUTOGRAD_SUCCESS);
  ASSERT_EQ(stored.countElements(), SPARSE_AUTOGRAD_SUCCESS)
      << sparseAutogradLastError();
  for (int64_t positionBytes : {1, 2, 4, 8})
    for (int64_t coordinateBytes : {1, 2, 4, 8}) {
      SCOPED_TRACE(format.name);
      ASSERT_EQ(stored.store(positionBytes, coordinateBytes),
                SPARSE_AUTOGRAD_SUCCESS)
          << sparseAutogradLastError();
      stored.expect(expected, positionBytes, coordinateBytes);
      PackedStorage packed(format.levels, expected, positionBytes,
                           coordinateBytes);
      EXPECT_EQ(sparseAutogradCheckStorage(
                    nullptr, int64_t(format.levels.size()),
                    format.levels.data(), levelExtents.data(), positionBytes,
                    coordinateBytes, packed.components.data()),
                SPARSE_AUTOGRAD_SUCCESS)
          << sparseAutogradLastError();
    }
  EXPECT_EQ(counters().liveBlocks, live);
}

TEST(StorePositions, EveryPatternInEveryFormat) {
  for (const StorageFormat &format : getMatrixFormats())
    for (const std::vector<Coordinates> &entries : getPatterns())
      expectStored(format, {2, 3}, entries);
}

TEST(StorePositions, TensorsOfOtherRanks) {
  auto same = [](const Coordinates &at) { return at; };
  const std::pair<std::vector<int64_t>, int64_t> formats[] = {
      {{compressed}, 1},
      {{loose}, 1},
      {{dense}, 1},
      {{compressed + nonunique}, 1},
      {{compressed, compressed, compressed}, 3},
      {{compressed, dense, compressed}, 3},
      {{dense, compressed + nonunique, singleton}, 3},
      {{dense, loose + nonunique, singleton}, 3},
      {{compressed + nonunique, singleton + nonunique, singleton}, 3},
      {{loose, loose, dense}, 3},
      {{dense, dense, compressed}, 3}};
  std::mt19937_64 random(2);
  for (const auto &[levels, rank] : formats)
    for (int repetition = 0; repetition < 30; ++repetition) {
      Coordinates extents;
      for (int64_t dim = 0; dim < rank; ++dim)
        extents.push_back(1 + static_cast<int64_t>(random() % 5));
      std::vector<Coordinates> entries(random() % 40);
      for (Coordinates &entry : entries)
        for (int64_t extent : extents)
          entry.push_back(static_cast<int64_t>(random() % extent));
      expectStored({"levels", levels, same, same}, extents, entries);
    }
}

TEST(StorePositions, WithoutEntriesOrExtents) {
  for (const StorageFormat &format : getMatrixFormats())
    for (Coordinates extents : {Coordinates{0, 3}, {2, 0}, {0, 0}, {5, 7}})
      expectStored(format, extents, {});
}

TEST(StorePositions, OneEntryUnderEachParentOfASingleton) {
  auto same = [](const Coordinates &at) { return at; };
  StorageFormat format = {"", {compressed, singleton}, same, same};
  expectStored(format, {4, 4}, {{3, 1}, {0, 2}, {3, 1}});
  format.levels = {compressed + nonunique, singleton, singleton};
  expectStored(format, {4, 4, 4}, {{3, 1, 1}, {3, 2, 1}, {3, 1, 1}});
}

/// What the first of the two that refuses says.
std::string getProblem(const std::vector<int64_t> &formats,
                       const Coordinates &extents,
                       const std::vector<Coordinates> &entries,
                       int32_t expected = SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                       int64_t positionBytes = 8, int64_t coordinateBytes = 8) {
  Stored stored(formats, extents, entries);
  int64_t live = counters().liveBlocks;
  EXPECT_EQ(stored.sort(), SPARSE_AUTOGRAD_SUCCESS);
  int32_t status = stored.countElements();
  if (status == SPARSE_AUTOGRAD_SUCCESS)
    status = stored.store(positionBytes, coordinateBytes);
  EXPECT_EQ(status, expected);
  EXPECT_EQ(counters().liveBlocks, live);
  return status == SPARSE_AUTOGRAD_SUCCESS ? "" : sparseAutogradLastError();
}

TEST(StorePositions, CoordinatesOutsideOfTheExtent) {
  constexpr int32_t outOfRange = SPARSE_AUTOGRAD_OUT_OF_RANGE;
  EXPECT_EQ(getProblem({dense, compressed}, {2, 3}, {{2, 0}}, outOfRange),
            "level 0: the coordinate 2 is outside of the extent 2");
  EXPECT_EQ(getProblem({dense, compressed}, {2, 3}, {{1, 3}}, outOfRange),
            "level 1: the coordinate 3 is outside of the extent 3");
  EXPECT_EQ(getProblem({compressed + nonunique, singleton}, {2, 3}, {{1, 3}},
                       outOfRange),
            "level 1: the coordinate 3 is outside of the extent 3");
  EXPECT_EQ(getProblem({compressed}, {3}, {{-1}}, outOfRange),
            "level 0: the coordinate -1 is outside of the extent 3");
  EXPECT_EQ(getProblem({dense, dense}, {2, 0}, {{0, 0}}, outOfRange),
            "level 1: the coordinate 0 is outside of the extent 0");
}

TEST(StorePositions, NumbersThatDoNotFit) {
  constexpr int32_t invalid = SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  for (int64_t bytes : {1, 2, 4}) {
    int64_t most = (int64_t(1) << (8 * bytes)) - 1;
    EXPECT_EQ(getProblem({compressed}, {most + 2}, {{most}},
                         SPARSE_AUTOGRAD_SUCCESS, 8, bytes),
              "");
    EXPECT_EQ(
        getProblem({compressed}, {most + 2}, {{most + 1}}, invalid, 8, bytes),
        "level 0: the coordinate " + std::to_string(most + 1) +
            " does not fit " + std::to_string(bytes) + " bytes");
  }
  std::vector<Coordinates> entries;
  for (int64_t i = 0; i < 255; ++i)
    entries.push_back({1, i});
  for (int64_t format : {compressed, loose}) {
    EXPECT_EQ(getProblem({dense, format}, {3, 300}, entries,
                         SPARSE_AUTOGRAD_SUCCESS, 1),
              "");
    entries.push_back({1, 255});
    EXPECT_EQ(getProblem({dense, format}, {3, 300}, entries, invalid, 1),
              "level 1: the position 256 does not fit 1 bytes");
    EXPECT_EQ(getProblem({dense, format}, {2, 300}, entries, invalid, 1),
              "level 1: the position 256 does not fit 1 bytes");
    entries.pop_back();
  }
}

TEST(StorePositions, MoreElementsThanCanBeAddressed) {
  int64_t large = int64_t(1) << 40;
  EXPECT_EQ(getProblem({dense, dense, compressed}, {large, large, 1}, {}),
            "level 1 has too many elements: the product of the extents "
            "overflows");
  EXPECT_EQ(getProblem({dense, dense}, {large, large}, {{large - 1, 0}}),
            "level 1 has too many elements: the product of the extents "
            "overflows");
  EXPECT_EQ(
      getProblem({dense}, {std::numeric_limits<int64_t>::max()}, {}),
      "level 0 has too many elements: the product of the extents overflows");
  // As large, but few elements.
  EXPECT_EQ(getProblem({compressed, compressed}, {large, large},
                       {{large - 1, large - 1}, {0, 5}},
                       SPARSE_AUTOGRAD_SUCCESS),
            "");
}

TEST(StorePositions, TwoEntriesUnderAParentOfASingleton) {
  EXPECT_EQ(getProblem({compressed, singleton}, {2, 3}, {{1, 0}, {1, 2}}),
            "level 0 is unique, but two entries have the same element there, "
            "and level 1 is a singleton");
  EXPECT_EQ(getProblem({compressed + nonunique, singleton, singleton},
                       {2, 3, 3}, {{1, 0, 1}, {1, 0, 2}}),
            "level 1 is unique, but two entries have the same element there, "
            "and level 2 is a singleton");
}

TEST(StorePositions, FormatsThatDoNotExist) {
  auto refused = [](int64_t level, int64_t format, int64_t extent = 3) {
    return "level " + std::to_string(level) + ": the format " +
           std::to_string(format) + " with the extent " +
           std::to_string(extent) +
           " does not exist, or not after the levels before it";
  };
  EXPECT_EQ(getProblem({singleton}, {3}, {}), refused(0, singleton));
  EXPECT_EQ(getProblem({dense, singleton}, {3, 3}, {}), refused(1, singleton));
  EXPECT_EQ(getProblem({compressed + nonunique, compressed}, {3, 3}, {}),
            refused(1, compressed));
  EXPECT_EQ(getProblem({compressed, singleton, dense}, {3, 3, 3}, {}),
            refused(2, dense));
  EXPECT_EQ(getProblem({dense + nonunique}, {3}, {}), refused(0, nonunique));
  EXPECT_EQ(getProblem({4}, {3}, {}), refused(0, 4));
  EXPECT_EQ(getProblem({512}, {3}, {}), refused(0, 512));
  EXPECT_EQ(getProblem({-1}, {3}, {}), refused(0, -1));
  EXPECT_EQ(getProblem({compressed}, {-3}, {}), refused(0, compressed, -3));
}

TEST(StorePositions, WidthsThatDoNotExist) {
  for (int64_t bytes : {-1, 0, 3, 16}) {
    std::string problem =
        "there are no numbers of " + std::to_string(bytes) + " bytes";
    Stored stored({compressed}, {3}, {});
    EXPECT_EQ(runEntry([&] {
                sparseAutogradStorePositions(
                    0, 1, stored.formats.data(), stored.extents.data(), nullptr,
                    nullptr, 8, bytes, nullptr, nullptr, nullptr);
              }),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_EQ(sparseAutogradLastError(), problem);
    EXPECT_EQ(runEntry([&] {
                sparseAutogradStorePositions(
                    0, 1, stored.formats.data(), stored.extents.data(), nullptr,
                    nullptr, bytes, 8, nullptr, nullptr, nullptr);
              }),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_EQ(sparseAutogradLastError(), problem);
  }
}

TEST(StorePositions, AnOrderThatIsNone) {
  Stored stored({compressed, compressed}, {3, 3}, {{1, 2}, {1, 1}});
  stored.order = {0, 1};
  EXPECT_EQ(stored.countElements(), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "entry 1 in the given order precedes the one before it");
}

TEST(StorePositions, ListsThatAreNone) {
  Stored stored({compressed}, {3}, {});
  stored.count = -2;
  EXPECT_EQ(stored.countElements(), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "a list of -2 entries of 1 coordinates");
  stored.count = 0;
  stored.levels = 0;
  EXPECT_EQ(stored.countElements(), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

} // namespace
