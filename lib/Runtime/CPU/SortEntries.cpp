//===- SortEntries.cpp - Sorts coordinates in linear time -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A radix sort from the least significant digit. The coordinates of an entry
// are packed into words, with as many bits each as the largest of their level
// has, so that two levels of a usual matrix are one word of a few bytes. What
// does not fit a cache is distributed by the most significant digit first.
// Levels behind which the entries are in order already need no sorting, and if
// a single one is left, as in a transposition, its coordinates are counted.
//
// Nothing here has a destructor, since errors leave by longjmp.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "ThreadState.h"

#include <cstring>
#include <utility>

namespace {

struct KeyedEntry {
  uint64_t key;
  int64_t entry;
};

/// Levels [begin, end), whose coordinates fit one word.
struct LevelGroup {
  int64_t begin;
  int64_t end;
};

} // namespace

static constexpr int64_t digitBits = 8;
static constexpr int64_t digitValues = int64_t(1) << digitBits;
static constexpr int64_t digitCount = 64 / digitBits;
/// So many entries, and as many to copy them to, are in the cache of a core.
static constexpr int64_t cachedEntries =
    sparse_autograd::genericCPU.coreCacheBytes / 8 / 16;

/// Whether the entries are sorted by levels `begin` to `levels`.
static bool isSorted(int64_t count, int64_t begin, int64_t levels,
                     const int64_t *coordinates) {
  for (int64_t i = 1; i < count; ++i) {
    const int64_t *entry = coordinates + i * levels;
    const int64_t *previous = entry - levels;
    for (int64_t level = begin; level < levels; ++level) {
      if (entry[level] == previous[level])
        continue;
      if (entry[level] < previous[level])
        return false;
      break;
    }
  }
  return true;
}

/// How many bits tell the coordinates of a level apart.
static int64_t countBits(int64_t count, int64_t levels,
                         const int64_t *coordinates, int64_t level) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < count; ++i)
    bits |= static_cast<uint64_t>(coordinates[i * levels + level]);
  return bits ? 64 - __builtin_clzll(bits) : 0;
}

/// Replaces numbers by the sums of those before them.
static void sumBefore(int64_t (&numbers)[digitValues]) {
  int64_t sum = 0;
  for (int64_t &number : numbers)
    sum += std::exchange(number, sum);
}

/// Sorts by the lowest digits of the keys; entries where these are the same
/// stay in their order. Uses `scratch`, of the same size.
static void sortByLowDigits(KeyedEntry *entries, KeyedEntry *scratch,
                            int64_t count, int64_t digits) {
  int64_t places[digitCount][digitValues];
  std::memset(places, 0, digits * sizeof(places[0]));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t digit = 0; digit < digits; ++digit)
      ++places[digit]
              [(entries[i].key >> (digit * digitBits)) & (digitValues - 1)];
  KeyedEntry *from = entries, *to = scratch;
  for (int64_t digit = 0; digit < digits; ++digit) {
    int64_t shift = digit * digitBits;
    auto &next = places[digit];
    // A digit that is the same in all keys.
    if (next[(from[0].key >> shift) & (digitValues - 1)] == count)
      continue;
    sumBefore(next);
    for (int64_t i = 0; i < count; ++i)
      to[next[(from[i].key >> shift) & (digitValues - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries)
    std::memcpy(entries, from, count * sizeof(KeyedEntry));
}

/// Sorts by keys of so many bits; entries of equal keys stay in their order.
/// They are in `entries` then; `scratch` is of the same size, and the two are
/// exchanged if that saves a copy.
static void sortByKey(KeyedEntry *&entries, KeyedEntry *&scratch, int64_t count,
                      int64_t bits) {
  auto countDigits = [](int64_t bits) {
    return (bits + digitBits - 1) / digitBits;
  };
  int64_t shift = bits - digitBits;
  if (count <= cachedEntries || shift <= 0) {
    sortByLowDigits(entries, scratch, count, countDigits(bits));
    return;
  }
  int64_t ends[digitValues] = {};
  for (int64_t i = 0; i < count; ++i)
    ++ends[entries[i].key >> shift];
  sumBefore(ends);
  // Where a value begins becomes where it ends.
  for (int64_t i = 0; i < count; ++i)
    scratch[ends[entries[i].key >> shift]++] = entries[i];
  std::swap(entries, scratch);
  int64_t begin = 0;
  for (int64_t end : ends) {
    if (end - begin > 1)
      sortByLowDigits(entries + begin, scratch + begin, end - begin,
                      countDigits(shift));
    begin = end;
  }
}

/// Replaces the keys by the coordinates of a group of levels.
static void packKeys(KeyedEntry *entries, int64_t count, int64_t levels,
                     const int64_t *coordinates, LevelGroup group,
                     const int64_t *bits) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t *entry = coordinates + entries[i].entry * levels;
    uint64_t key = 0;
    for (int64_t level = group.begin; level < group.end; ++level) {
      // A level of 64 bits is alone in its word.
      key = bits[level] < 64 ? key << bits[level] : 0;
      key |= static_cast<uint64_t>(entry[level]);
    }
    entries[i].key = key;
  }
}

/// Sorts by the coordinates of the first level, which have so many bits;
/// entries where they are the same stay in their order.
static void sortByFirstLevel(int64_t count, int64_t levels,
                             const int64_t *coordinates, int64_t bits,
                             int64_t *order) {
  int64_t values = int64_t(1) << bits;
  auto *places = static_cast<int64_t *>(
      sparseAutogradAllocate((values + 1) * int64_t(sizeof(int64_t))));
  std::memset(places, 0, (values + 1) * sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i)
    ++places[coordinates[i * levels] + 1];
  for (int64_t value = 0; value < values; ++value)
    places[value + 1] += places[value];
  for (int64_t i = 0; i < count; ++i)
    order[places[coordinates[i * levels]]++] = i;
  sparseAutogradDeallocate(places);
}

static void sortEntries(int64_t count, int64_t levels,
                        const int64_t *coordinates, int64_t *order) {
  if (count < 0 || levels < 1) {
    int64_t values[] = {count, levels};
    sparseAutogradRaiseWithValues(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                                  "a list of {} entries of {} coordinates", 2,
                                  values);
  }
  // How many levels there are before those by which they are sorted already.
  int64_t unsorted = 0;
  while (unsorted < levels && !isSorted(count, unsorted, levels, coordinates))
    ++unsorted;
  if (unsorted == 0) {
    for (int64_t i = 0; i < count; ++i)
      order[i] = i;
    return;
  }
  if (unsorted == 1) {
    int64_t bits = countBits(count, levels, coordinates, 0);
    if (bits < 63 && int64_t(1) << bits <= 4 * count) {
      sortByFirstLevel(count, levels, coordinates, bits, order);
      return;
    }
  }

  int64_t entryBytes, levelBytes;
  if (__builtin_mul_overflow(count, int64_t(sizeof(KeyedEntry)), &entryBytes))
    entryBytes = -1;
  if (__builtin_mul_overflow(levels, int64_t(sizeof(int64_t)), &levelBytes))
    levelBytes = -1;
  auto *bits = static_cast<int64_t *>(sparseAutogradAllocate(levelBytes));
  auto *entries = static_cast<KeyedEntry *>(sparseAutogradAllocate(entryBytes));
  auto *scratch = static_cast<KeyedEntry *>(sparseAutogradAllocate(entryBytes));
  for (int64_t level = 0; level < unsorted; ++level)
    bits[level] = countBits(count, levels, coordinates, level);
  for (int64_t i = 0; i < count; ++i)
    entries[i].entry = i;
  // The least significant levels first.
  for (LevelGroup group = {unsorted, unsorted}; group.begin > 0;) {
    group.end = group.begin;
    int64_t sum = 0;
    while (group.begin > 0 && sum + bits[group.begin - 1] <= 64)
      sum += bits[--group.begin];
    packKeys(entries, count, levels, coordinates, group, bits);
    sortByKey(entries, scratch, count, sum);
  }
  for (int64_t i = 0; i < count; ++i)
    order[i] = entries[i].entry;
  sparseAutogradDeallocate(scratch);
  sparseAutogradDeallocate(entries);
  sparseAutogradDeallocate(bits);
}

void sparseAutogradSortEntries(int64_t count, int64_t levels,
                               const int64_t *coordinates, int64_t *order) {
  sparse_autograd::runtime::addTime(&SparseAutogradCallTimes::accumulate, [&] {
    sortEntries(count, levels, coordinates, order);
  });
}
