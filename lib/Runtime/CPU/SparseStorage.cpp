//===- SparseStorage.cpp - Storage of sparse tensors ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From sorted entries to positions and coordinates. The storage is described
// in Runtime.h.
//
// Nothing here has a destructor, since errors leave by longjmp.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseLevels.h"
#include "ThreadState.h"

#include <initializer_list>

using namespace sparse_autograd;
using namespace sparse_autograd::runtime;

namespace {

/// A level under construction.
struct Level {
  const LevelFormatInfo *format;
  bool isUnique;
  int64_t extent;
  void *positions;
  void *coordinates;
  /// The element of the last entry.
  int64_t element;
  /// How many elements there are, of those that grow with the entries; of
  /// packed coordinates the one after the last that an entry has.
  int64_t size;
  /// Of how many parents the first position is stored; of how many elements
  /// the packed coordinate.
  int64_t begun;
};

/// Where the elements of entries go.
struct Storage {
  int64_t numLevels;
  Level *levels;
  int64_t positionBytes;
  int64_t coordinateBytes;
  /// Whether anything is stored, or counted only.
  bool stores;
};

} // namespace

/// So many entries ahead of the one at hand are asked for.
static constexpr int64_t prefetchDistance = 16;

static void storeNumber(int64_t level, const char *misfit, void *array,
                        int64_t index, int64_t bytes, int64_t number) {
  if (bytes < 8 && number >> (8 * bytes)) {
    int64_t values[] = {level, number, bytes};
    sparseAutogradRaiseWithValues(SPARSE_AUTOGRAD_INVALID_ARGUMENT, misfit, 3,
                                  values);
  }
  switch (bytes) {
  case 1:
    static_cast<uint8_t *>(array)[index] = static_cast<uint8_t>(number);
    break;
  case 2:
    static_cast<uint16_t *>(array)[index] = static_cast<uint16_t>(number);
    break;
  case 4:
    static_cast<uint32_t *>(array)[index] = static_cast<uint32_t>(number);
    break;
  default:
    static_cast<int64_t *>(array)[index] = number;
  }
}

static void storePosition(const Storage &storage, int64_t level, int64_t index,
                          int64_t position) {
  storeNumber(level, "level {}: the position {} does not fit {} bytes",
              storage.levels[level].positions, index, storage.positionBytes,
              position);
}

static void storeCoordinate(const Storage &storage, int64_t level,
                            int64_t index, int64_t coordinate) {
  storeNumber(level, "level {}: the coordinate {} does not fit {} bytes",
              storage.levels[level].coordinates, index, storage.coordinateBytes,
              coordinate);
}

/// Stores where the elements of the parents before `parents` begin, and those
/// of the ones before them end: at the number of elements so far.
static void beginParents(const Storage &storage, int64_t level,
                         int64_t parents) {
  Level &state = storage.levels[level];
  for (; state.begun < parents; ++state.begun) {
    int64_t place = state.format->positions * state.begun;
    if (state.format->hasGaps() && state.begun > 0)
      storePosition(storage, level, place - 1, state.size);
    storePosition(storage, level, place, state.size);
  }
}

/// Stores what is missing when all entries are there.
static void endParents(const Storage &storage, int64_t level, int64_t parents) {
  Level &state = storage.levels[level];
  beginParents(storage, level, parents);
  if (int64_t count = state.format->countPositions(parents))
    storePosition(storage, level, count - 1, state.size);
}

/// Writes a coordinate in bits.
static void storePacked(const Level &state, int64_t element,
                        int64_t coordinate) {
  const LevelFormatInfo &format = *state.format;
  auto &byte =
      static_cast<uint8_t *>(state.coordinates)[element / format.countInByte()];
  int64_t shift = format.coordinates * (element % format.countInByte());
  int64_t mask = (format.getPackedExtent() - 1) << shift;
  byte = static_cast<uint8_t>((byte & ~mask) | (coordinate << shift));
}

/// Writes the coordinates of elements before `end` that nothing is stored in
/// yet.
static void beginPacked(Level &state, int64_t end) {
  for (; state.begun < end; ++state.begun)
    storePacked(state, state.begun, state.format->getUnused(state.begun));
}

/// The element of an entry below `parent`: the next one, or a later one if
/// there are no coordinates for those between it and the end.
static int64_t addPacked(const Storage &storage, int64_t level, int64_t parent,
                         int64_t coordinate) {
  Level &state = storage.levels[level];
  const LevelFormatInfo &format = *state.format;
  int64_t first = parent * format.elements;
  int64_t element = state.size > first ? state.size : first;
  int64_t last =
      first + coordinate - (format.getPackedExtent() - format.elements);
  element = element > last ? element : last;
  if (element == first + format.elements) {
    int64_t groups = level > 0 ? storage.levels[level - 1].extent : 1;
    int64_t values[] = {level, parent % groups, parent / groups,
                        format.elements, format.getPackedExtent()};
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_INVALID_ARGUMENT,
        "level {}: group {} of row {} stores more than {} of its {} elements; "
        "set the others to zero before, or store the tensor in another format",
        5, values);
  }
  state.size = element + 1;
  if (storage.stores) {
    beginPacked(state, element + 1);
    storePacked(state, element, coordinate);
  }
  return element;
}

static void raiseTooMany(int64_t level) {
  sparseAutogradRaiseWithValues(
      SPARSE_AUTOGRAD_INVALID_ARGUMENT,
      "level {} has too many elements: the product of the extents overflows", 1,
      &level);
}

/// The element of level `level` of an entry whose element of the level before
/// is `parent`.
static int64_t addElement(const Storage &storage, int64_t level, int64_t parent,
                          int64_t coordinate) {
  Level &state = storage.levels[level];
  if (coordinate < 0 || coordinate >= state.extent) {
    int64_t values[] = {level, coordinate, state.extent};
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_OUT_OF_RANGE,
        "level {}: the coordinate {} is outside of the extent {}", 3, values);
  }
  int64_t element = parent;
  if (state.format->storesAll()) {
    // Those of this parent and of the ones before it must exist.
    int64_t end = multiplyElements(parent + 1, state.extent);
    if (end < 0)
      raiseTooMany(level);
    return end - state.extent + coordinate;
  }
  if (state.format->isPacked()) {
    if (multiplyElements(parent + 1, state.format->elements) < 0)
      raiseTooMany(level);
    return addPacked(storage, level, parent, coordinate);
  }
  if (state.format->hasPositions()) {
    if (storage.stores)
      beginParents(storage, level, parent + 1);
    element = state.size;
  }
  state.size = element + 1;
  if (storage.stores)
    storeCoordinate(storage, level, element, coordinate);
  return element;
}

static void raiseUnsorted(int64_t entry) {
  sparseAutogradRaiseWithValues(
      SPARSE_AUTOGRAD_INVALID_ARGUMENT,
      "entry {} in the given order precedes the one before it", 1, &entry);
}

/// Goes through the entries in their order; slots may be null.
static void addEntries(const Storage &storage, int64_t count,
                       const int64_t *coordinates, const int64_t *order,
                       int64_t *slots) {
  int64_t numLevels = storage.numLevels;
  int64_t firstNonunique = 0;
  while (firstNonunique < numLevels && storage.levels[firstNonunique].isUnique)
    ++firstNonunique;
  const int64_t *previous = nullptr;
  for (int64_t i = 0; i < count; ++i) {
    // Entries that were sorted lie anywhere.
    if (i + prefetchDistance < count)
      __builtin_prefetch(coordinates + order[i + prefetchDistance] * numLevels);
    const int64_t *entry = coordinates + order[i] * numLevels;
    // The first level where the entry differs from the one before it.
    int64_t differs = 0;
    if (previous) {
      while (differs < numLevels && entry[differs] == previous[differs])
        ++differs;
      if (differs < numLevels && entry[differs] < previous[differs])
        raiseUnsorted(i);
    }
    bool isNew = !previous || differs < numLevels;
    int64_t begin = !isNew                     ? numLevels
                    : differs < firstNonunique ? differs
                                               : firstNonunique;
    for (int64_t level = begin; level < numLevels; ++level) {
      Level &state = storage.levels[level];
      if (previous && differs >= level && state.format->isSingleton() &&
          storage.levels[level - 1].isUnique) {
        int64_t values[] = {level - 1, level};
        sparseAutogradRaiseWithValues(
            SPARSE_AUTOGRAD_INVALID_ARGUMENT,
            "level {} is unique, but two entries have the same element there, "
            "and level {} is a singleton",
            2, values);
      }
      int64_t parent = level ? storage.levels[level - 1].element : 0;
      state.element = addElement(storage, level, parent, entry[level]);
    }
    if (slots)
      slots[order[i]] = storage.levels[numLevels - 1].element;
    previous = entry;
  }
}

static void checkCount(int64_t count, int64_t levels) {
  if (count >= 0 && levels >= 1)
    return;
  int64_t values[] = {count, levels};
  sparseAutogradRaiseWithValues(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                                "a list of {} entries of {} coordinates", 2,
                                values);
}

/// Describes levels without entries, in memory of the frame.
static Level *makeLevels(int64_t numLevels, const int64_t *formats,
                         const int64_t *extents) {
  LevelKind kinds[mostLevels];
  if (numLevels > mostLevels)
    sparseAutogradRaiseWithValues(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                                  "storage of {} levels", 1, &numLevels);
  for (int64_t i = 0; i < numLevels; ++i)
    kinds[i] = LevelKind::fromCode(formats[i]);
  int64_t level = checkFormats(numLevels, kinds, extents);
  if (level < numLevels) {
    int64_t values[] = {level, formats[level], extents[level]};
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_INVALID_ARGUMENT,
        "level {}: the format {} with the extent {} does not exist, or not "
        "after the levels before it",
        3, values);
  }
  auto *levels = static_cast<Level *>(
      sparseAutogradAllocate(numLevels * int64_t(sizeof(Level))));
  for (int64_t i = 0; i < numLevels; ++i)
    levels[i] = {kinds[i].format,
                 kinds[i].isUnique,
                 extents[i],
                 nullptr,
                 nullptr,
                 0,
                 0,
                 0};
  return levels;
}

/// How many elements a level has, all entries being there, for `parents` of the
/// level before.
static int64_t countElements(const Storage &storage, int64_t level,
                             int64_t parents) {
  const Level &state = storage.levels[level];
  bool isPacked = state.format->isPacked();
  if (!state.format->storesAll() && !isPacked)
    return state.size;
  int64_t elements = multiplyElements(parents, isPacked ? state.format->elements
                                                        : state.extent);
  if (elements < 0)
    raiseTooMany(level);
  return elements;
}

static void countPositions(int64_t count, int64_t levels,
                           const int64_t *formats, const int64_t *extents,
                           const int64_t *coordinates, const int64_t *order,
                           int64_t *elementCounts) {
  checkCount(count, levels);
  Storage storage = {levels, makeLevels(levels, formats, extents), 0, 0, false};
  addEntries(storage, count, coordinates, order, nullptr);
  int64_t parents = 1;
  for (int64_t level = 0; level < levels; ++level) {
    parents = countElements(storage, level, parents);
    elementCounts[level] = parents;
  }
  sparseAutogradDeallocate(storage.levels);
}

static void storePositions(int64_t count, int64_t levels,
                           const int64_t *formats, const int64_t *extents,
                           const int64_t *coordinates, const int64_t *order,
                           int64_t positionBytes, int64_t coordinateBytes,
                           void *const *positions,
                           void *const *storedCoordinates, int64_t *slots) {
  checkCount(count, levels);
  for (int64_t bytes : {positionBytes, coordinateBytes})
    if (!isWidth(bytes))
      sparseAutogradRaiseWithValues(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                                    "there are no numbers of {} bytes", 1,
                                    &bytes);
  Storage storage = {levels, makeLevels(levels, formats, extents),
                     positionBytes, coordinateBytes, true};
  for (int64_t level = 0; level < levels; ++level) {
    Level &state = storage.levels[level];
    if (state.format->hasPositions())
      state.positions = positions[level];
    if (state.format->hasCoordinates())
      state.coordinates = storedCoordinates[level];
  }
  addEntries(storage, count, coordinates, order, slots);
  int64_t parents = 1;
  for (int64_t level = 0; level < levels; ++level) {
    if (storage.levels[level].format->hasPositions())
      endParents(storage, level, parents);
    parents = countElements(storage, level, parents);
    Level &state = storage.levels[level];
    if (state.format->isPacked())
      beginPacked(state, state.format->countInByte() *
                             state.format->countBytes(parents));
  }
  sparseAutogradDeallocate(storage.levels);
}

void sparseAutogradCountPositions(int64_t count, int64_t levels,
                                  const int64_t *formats,
                                  const int64_t *extents,
                                  const int64_t *coordinates,
                                  const int64_t *order,
                                  int64_t *elementCounts) {
  addTime(&SparseAutogradCallTimes::accumulate, [&] {
    countPositions(count, levels, formats, extents, coordinates, order,
                   elementCounts);
  });
}

void sparseAutogradStorePositions(
    int64_t count, int64_t levels, const int64_t *formats,
    const int64_t *extents, const int64_t *coordinates, const int64_t *order,
    int64_t positionBytes, int64_t coordinateBytes, void *const *positions,
    void *const *storedCoordinates, int64_t *slots) {
  addTime(&SparseAutogradCallTimes::accumulate, [&] {
    storePositions(count, levels, formats, extents, coordinates, order,
                   positionBytes, coordinateBytes, positions, storedCoordinates,
                   slots);
  });
}
