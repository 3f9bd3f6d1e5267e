//===- StorageReference.h - Storage by its definition -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storage of sparse tensors, built and read parent by parent, and the formats
// that the tests go through.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_RUNTIME_STORAGEREFERENCE_H
#define SPARSEAUTOGRAD_TEST_UNIT_RUNTIME_STORAGEREFERENCE_H

#include "SparseAutograd/Runtime/Runtime.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using Coordinates = std::vector<int64_t>;

constexpr int64_t dense = SPARSE_AUTOGRAD_LEVEL_DENSE;
constexpr int64_t compressed = SPARSE_AUTOGRAD_LEVEL_COMPRESSED;
constexpr int64_t loose = SPARSE_AUTOGRAD_LEVEL_LOOSE_COMPRESSED;
constexpr int64_t singleton = SPARSE_AUTOGRAD_LEVEL_SINGLETON;
constexpr int64_t nonunique = SPARSE_AUTOGRAD_LEVEL_NONUNIQUE;

/// How a tensor is stored.
struct StorageFormat {
  std::string name;
  std::vector<int64_t> levels;
  /// From dimensions to levels: coordinates, and extents.
  std::function<Coordinates(const Coordinates &)> toLevels;
  std::function<Coordinates(const Coordinates &)> toExtents;
};

/// All formats of matrices.
inline std::vector<StorageFormat> getMatrixFormats() {
  auto same = [](const Coordinates &at) { return at; };
  auto swapped = [](const Coordinates &at) {
    return Coordinates{at[1], at[0]};
  };
  auto inBlocks = [](const Coordinates &at) {
    return Coordinates{at[0] / 2, at[1] / 2, at[0] % 2, at[1] % 2};
  };
  auto countBlocks = [](const Coordinates &extents) {
    return Coordinates{(extents[0] + 1) / 2, (extents[1] + 1) / 2, 2, 2};
  };
  return {
      {"COO", {compressed + nonunique, singleton}, same, same},
      {"COO, by columns",
       {compressed + nonunique, singleton},
       swapped,
       swapped},
      {"loose COO", {loose + nonunique, singleton}, same, same},
      {"CSR", {dense, compressed}, same, same},
      {"CSC", {dense, compressed}, swapped, swapped},
      {"DCSR", {compressed, compressed}, same, same},
      {"compressed, dense", {compressed, dense}, same, same},
      {"dense", {dense, dense}, same, same},
      {"loose", {dense, loose}, same, same},
      {"loose, compressed", {loose, compressed}, same, same},
      {"not unique at the end", {dense, compressed + nonunique}, same, same},
      {"BSR", {dense, compressed, dense, dense}, inBlocks, countBlocks}};
}

/// The numbers of storage, whatever their widths.
struct Storage {
  std::vector<std::vector<int64_t>> positions, coordinates;
  /// The entries that share each value.
  std::vector<std::vector<int64_t>> values;
};

inline bool isLoose(int64_t format) { return (format & ~nonunique) == loose; }
inline bool hasPositions(int64_t format) {
  return (format & ~nonunique) == compressed || isLoose(format);
}
inline bool hasCoordinates(int64_t format) {
  return (format & ~nonunique) != dense;
}

/// Stores entries, each given by the coordinates of its levels.
class StorageBuilder {
public:
  StorageBuilder(std::vector<int64_t> levels, Coordinates extents)
      : levels(std::move(levels)), extents(std::move(extents)) {}

  Storage build(const std::vector<Coordinates> &entries) {
    this->entries = entries;
    storage = {};
    storage.positions.resize(levels.size());
    storage.coordinates.resize(levels.size());
    for (size_t level = 0; level < levels.size(); ++level)
      if (hasPositions(levels[level]) && !isLoose(levels[level]))
        storage.positions[level] = {0};
    // The same entries stay in their order.
    std::vector<int64_t> all(entries.size());
    std::iota(all.begin(), all.end(), 0);
    std::sort(all.begin(), all.end(), [&](int64_t a, int64_t b) {
      return std::tie(entries[a], a) < std::tie(entries[b], b);
    });
    addParent(0, all);
    return storage;
  }

private:
  /// Adds the elements of `level` for a parent that these sorted entries are
  /// below.
  void addParent(size_t level, const std::vector<int64_t> &below) {
    if (level == levels.size()) {
      storage.values.push_back(below);
      return;
    }
    auto addElement = [&](int64_t coordinate,
                          const std::vector<int64_t> &entries) {
      if (hasCoordinates(levels[level]))
        storage.coordinates[level].push_back(coordinate);
      addParent(level + 1, entries);
    };
    auto pushPosition = [&] {
      storage.positions[level].push_back(
          static_cast<int64_t>(storage.coordinates[level].size()));
    };
    if (isLoose(levels[level]))
      pushPosition();
    if (levels[level] == dense) {
      for (int64_t at = 0; at < extents[level]; ++at) {
        std::vector<int64_t> selected;
        for (int64_t entry : below)
          if (entries[entry][level] == at)
            selected.push_back(entry);
        addElement(at, selected);
      }
    } else {
      bool isWhole = levels[level] & nonunique;
      for (size_t begin = 0, end = 0; begin < below.size(); begin = end) {
        const Coordinates &first = entries[below[begin]];
        for (end = begin + 1; end < below.size(); ++end) {
          const Coordinates &next = entries[below[end]];
          if (isWhole ? next != first : next[level] != first[level])
            break;
        }
        addElement(first[level], {below.begin() + begin, below.begin() + end});
      }
    }
    if (hasPositions(levels[level]))
      pushPosition();
  }

  std::vector<int64_t> levels;
  Coordinates extents;
  std::vector<Coordinates> entries;
  Storage storage;
};

/// The entries of storage, by the coordinates of levels, or nothing if a
/// coordinate is outside of its extent, or the elements of a parent outside of
/// their array or not in order. Elements may be without entries. Loose levels
/// are not read.
class StorageReader {
public:
  StorageReader(std::vector<int64_t> levels, Coordinates extents,
                const Storage &storage)
      : levels(std::move(levels)), extents(std::move(extents)),
        storage(storage) {}

  std::optional<std::vector<Coordinates>> read() {
    readParent(0, 0, {});
    // Coordinates that repeat have no order of their own.
    bool isSorted =
        std::adjacent_find(entries.begin(), entries.end(),
                           std::greater_equal<Coordinates>()) == entries.end();
    if (!isValid || !isSorted)
      return std::nullopt;
    return entries;
  }

private:
  void readParent(size_t level, int64_t parent, Coordinates at) {
    if (level == levels.size()) {
      entries.push_back(std::move(at));
      return;
    }
    auto readElement = [&](int64_t element, int64_t coordinate) {
      isValid &= coordinate >= 0 && coordinate < extents[level];
      if (!isValid)
        return;
      Coordinates longer = at;
      longer.push_back(coordinate);
      readParent(level + 1, element, std::move(longer));
    };
    if (levels[level] == dense) {
      for (int64_t i = 0; i < extents[level]; ++i)
        readElement(parent * extents[level] + i, i);
      return;
    }
    const std::vector<int64_t> &coordinates = storage.coordinates[level];
    int64_t begin = parent, end = parent + 1;
    if (hasPositions(levels[level])) {
      const std::vector<int64_t> &positions = storage.positions[level];
      isValid &= parent + 1 < static_cast<int64_t>(positions.size());
      if (!isValid)
        return;
      begin = positions[parent];
      end = positions[parent + 1];
    }
    isValid &= begin >= 0 && begin <= end &&
               end <= static_cast<int64_t>(coordinates.size());
    bool isUnique = !(levels[level] & nonunique);
    for (int64_t element = begin + 1; isValid && element < end; ++element)
      isValid &= !isUnique || coordinates[element - 1] < coordinates[element];
    for (int64_t element = begin; isValid && element < end; ++element)
      readElement(element, coordinates[element]);
  }

  std::vector<int64_t> levels;
  Coordinates extents;
  const Storage &storage;
  std::vector<Coordinates> entries;
  bool isValid = true;
};

/// Numbers in the width that storage has them in.
class PackedNumbers {
public:
  PackedNumbers(const std::vector<int64_t> &numbers, int64_t bytes)
      : length(static_cast<int64_t>(numbers.size())),
        data(numbers.size() * bytes) {
    // The low bytes come first.
    for (size_t i = 0; i < numbers.size(); ++i)
      std::memcpy(data.data() + i * bytes, &numbers[i], bytes);
  }
  SparseAutogradMemRef1 getDescriptor() {
    return {nullptr, data.data(), 0, {length}, {1}};
  }

private:
  int64_t length;
  std::vector<char> data;
};

/// Storage as an entry takes it; values are bytes.
class PackedStorage {
public:
  PackedStorage(const std::vector<int64_t> &levels, const Storage &storage,
                int64_t positionBytes, int64_t coordinateBytes) {
    for (size_t level = 0; level < levels.size(); ++level) {
      if (hasPositions(levels[level]))
        arrays.emplace_back(storage.positions[level], positionBytes);
      if (hasCoordinates(levels[level]))
        arrays.emplace_back(storage.coordinates[level], coordinateBytes);
    }
    arrays.emplace_back(std::vector<int64_t>(storage.values.size()), 1);
    for (PackedNumbers &array : arrays)
      components.push_back(array.getDescriptor());
  }
  std::vector<SparseAutogradMemRef1> components;

private:
  std::vector<PackedNumbers> arrays;
};

#endif // SPARSEAUTOGRAD_TEST_UNIT_RUNTIME_STORAGEREFERENCE_H
