//===- CheckStorage.cpp - The validator of sparse storage -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementOrder.h"
#include "SparseLevels.h"
#include "ThreadState.h"

#include <atomic>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <initializer_list>

using namespace sparse_autograd;
using namespace sparse_autograd::runtime;

static std::atomic<int64_t> checkedBytes{0};

int64_t runtime::checkedByteCount() {
  return checkedBytes.load(std::memory_order_relaxed);
}

void runtime::resetCheckedByteCount() {
  checkedBytes.store(0, std::memory_order_relaxed);
}

/// Element 0 of an array whose descriptor was checked; null if it has none.
template <typename T>
static const T *getData(const SparseAutogradMemRef1 &memref) {
  if (memref.sizes[0] == 0)
    return nullptr;
  return static_cast<const T *>(memref.aligned) + memref.offset;
}

namespace {

/// An array of unsigned numbers.
class Numbers {
public:
  Numbers(const SparseAutogradMemRef1 &memref, int64_t bytes)
      : data(memref.sizes[0] == 0 ? nullptr
                                  : static_cast<const char *>(memref.aligned) +
                                        memref.offset * bytes),
        stride(memref.strides[0]), bytes(bytes) {}

  /// A number of 64 bits that is no int64_t comes out negative.
  int64_t operator[](int64_t index) const {
    index *= stride;
    switch (bytes) {
    case 1:
      return reinterpret_cast<const uint8_t *>(data)[index];
    case 2:
      return reinterpret_cast<const uint16_t *>(data)[index];
    case 4:
      return reinterpret_cast<const uint32_t *>(data)[index];
    default:
      return reinterpret_cast<const int64_t *>(data)[index];
    }
  }

private:
  const char *data;
  int64_t stride;
  int64_t bytes;
};

/// Checks storage, level by level, up to the first problem.
class StorageChecker {
public:
  StorageChecker(const char *name, int64_t levels, const int64_t *formats,
                 const int64_t *extents, int64_t positionBytes,
                 int64_t coordinateBytes,
                 const SparseAutogradMemRef1 *components)
      : name(name ? name : ""), levels(levels), formats(formats),
        extents(extents), positionBytes(positionBytes),
        coordinateBytes(coordinateBytes), components(components) {}

  bool check();

private:
  /// Sets the error, with the level unless it is negative; false.
  __attribute__((format(printf, 3, 4))) bool refuse(int64_t level,
                                                    const char *problem, ...);
  /// `bytes` are those of an element, 0 if that is not known.
  bool checkArray(int64_t level, const char *what,
                  const SparseAutogradMemRef1 &component, int64_t length,
                  int64_t bytes);
  bool checkDense();
  bool checkPacked();
  bool checkStored();
  bool checkPositions(const SparseAutogradMemRef1 &component, int64_t elements);
  bool areElementsFine(const SparseAutogradMemRef1 &positions,
                       const SparseAutogradMemRef1 *coordinates,
                       int64_t elements) const;
  bool checkElement(const SparseAutogradMemRef1 *coordinates, int64_t element,
                    bool isFirst);
  const LevelFormatInfo &getFormat(int64_t level) const {
    return *kinds[level].format;
  }

  const char *name;
  int64_t levels;
  const int64_t *formats;
  LevelKind kinds[mostLevels];
  const int64_t *extents;
  int64_t positionBytes;
  int64_t coordinateBytes;
  /// Those that are not checked yet.
  const SparseAutogradMemRef1 *components;

  /// The levels [level, end) are checked together: one with positions, and the
  /// singletons that follow it.
  int64_t level = 0;
  int64_t end = 0;
  /// The elements of the level before.
  int64_t parents = 1;
};

} // namespace

bool StorageChecker::refuse(int64_t level, const char *problem, ...) {
  char text[messageCapacity];
  size_t length = 0;
  auto append = [&](int count) {
    // What is truncated ends with the buffer.
    length = count < 0 || length + count >= sizeof(text) ? sizeof(text) - 1
                                                         : length + count;
  };
  text[0] = '\0';
  if (*name)
    append(std::snprintf(text, sizeof(text), "%s: ", name));
  if (level >= 0)
    append(std::snprintf(text + length, sizeof(text) - length,
                         "level %" PRId64 " (%.*s): ", level,
                         static_cast<int>(getFormat(level).name.size()),
                         getFormat(level).name.data()));
  va_list arguments;
  va_start(arguments, problem);
  std::vsnprintf(text + length, sizeof(text) - length, problem, arguments);
  va_end(arguments);
  setLastError(SPARSE_AUTOGRAD_INVALID_ARGUMENT, text);
  return false;
}

/// Whether the address of the last of `size` elements overflows.
static bool overflows(const SparseAutogradMemRef1 &component, int64_t bytes) {
  int64_t first, rest, last;
  return __builtin_mul_overflow(component.offset, bytes, &first) ||
         __builtin_mul_overflow(component.sizes[0] - 1, component.strides[0],
                                &rest) ||
         __builtin_mul_overflow(rest, bytes, &rest) ||
         __builtin_add_overflow(first, rest, &last) ||
         __builtin_add_overflow(reinterpret_cast<intptr_t>(component.aligned),
                                first, &first) ||
         __builtin_add_overflow(first, rest, &last);
}

bool StorageChecker::checkArray(int64_t level, const char *what,
                                const SparseAutogradMemRef1 &component,
                                int64_t length, int64_t bytes) {
  int64_t size = component.sizes[0];
  if (size != length || size < 0)
    return refuse(level, "has %" PRId64 " %s instead of %" PRId64, size, what,
                  length);
  if (size == 0)
    return true;
  if (!component.aligned)
    return refuse(level, "the pointer to its %s is null", what);
  if (bytes == 0)
    return true;
  // All are read, once.
  checkedBytes.fetch_add(size * bytes, std::memory_order_relaxed);
  if (reinterpret_cast<uintptr_t>(component.aligned) % bytes != 0)
    return refuse(level,
                  "the pointer to its %s is not aligned to %" PRId64 " bytes",
                  what, bytes);
  if (overflows(component, bytes))
    return refuse(level, "the offset or the stride of its %s overflows", what);
  return true;
}

bool StorageChecker::checkDense() {
  parents = multiplyElements(parents, extents[level]);
  if (parents < 0)
    return refuse(level, "the product of the extents overflows");
  return true;
}

/// Number of leading bytes in which the coordinates of each parent, none of
/// which has some in two bytes, increase.
static int64_t countFineBytes(const LevelFormatInfo &format,
                              const uint8_t *bytes, int64_t count) {
  bool isFine[256];
  for (int64_t byte = 0; byte < 256; ++byte) {
    auto value = static_cast<uint8_t>(byte);
    isFine[byte] = true;
    for (int64_t i = 1; i < format.countInByte(); ++i)
      isFine[byte] &=
          i % format.elements == 0 ||
          format.getPacked(&value, i - 1) < format.getPacked(&value, i);
  }
  int64_t fine = 0;
  while (fine < count && isFine[bytes[fine]])
    ++fine;
  return fine;
}

/// Coordinates that are packed: whether they increase below each parent.
bool StorageChecker::checkPacked() {
  const LevelFormatInfo &format = getFormat(level);
  int64_t elements = multiplyElements(parents, format.elements);
  if (elements < 0)
    return refuse(level, "the product of the extents overflows");
  if (!checkArray(level, "bytes of coordinates", components[0],
                  format.countBytes(elements), /*bytes=*/1))
    return false;
  Numbers bytes(components[0], 1);
  auto getCoordinate = [&](int64_t element) {
    uint8_t byte = bytes[element / format.countInByte()];
    return format.getPacked(&byte, element % format.countInByte());
  };
  // Groups of a row, which are the elements of the level before.
  int64_t groups = level > 0 ? extents[level - 1] : 1;
  int64_t fine = 0;
  if (components[0].strides[0] == 1)
    fine = countFineBytes(format, getData<uint8_t>(components[0]),
                          elements / format.countInByte());
  for (int64_t element = fine * format.countInByte(); element < elements;
       ++element) {
    if (element % format.elements == 0 ||
        getCoordinate(element - 1) < getCoordinate(element))
      continue;
    int64_t group = element / format.elements;
    return refuse(level,
                  "group %" PRId64 " of row %" PRId64
                  " has the coordinate %" PRId64 " after %" PRId64
                  ": they must increase",
                  group % groups, group / groups, getCoordinate(element),
                  getCoordinate(element - 1));
  }
  ++components;
  parents = elements;
  return true;
}

/// Calls `body` with a zero of the unsigned type of so many bytes.
template <typename Body>
static bool withType(int64_t bytes, Body body) {
  switch (bytes) {
  case 1:
    return body(uint8_t());
  case 2:
    return body(uint16_t());
  case 4:
    return body(uint32_t());
  default:
    return body(uint64_t());
  }
}

/// Whether positions are right, if they are contiguous: without a branch each.
static bool arePositionsFine(const SparseAutogradMemRef1 &component,
                             int64_t bytes, int64_t count, bool hasGaps,
                             int64_t elements) {
  if (component.strides[0] != 1 || count == 0)
    return false;
  return withType(bytes, [&](auto position) {
    auto *positions = getData<decltype(position)>(component);
    uint64_t last = positions[count - 1];
    bool isFine = hasGaps ? last <= uint64_t(elements)
                          : positions[0] == 0 && last == uint64_t(elements);
    for (int64_t i = 1; i < count; ++i)
      isFine &= positions[i - 1] <= positions[i];
    return isFine;
  });
}

/// From where to where the elements of each parent are.
bool StorageChecker::checkPositions(const SparseAutogradMemRef1 &component,
                                    int64_t elements) {
  bool hasGaps = getFormat(level).hasGaps();
  int64_t count = getFormat(level).countPositions(parents);
  if (arePositionsFine(component, positionBytes, count, hasGaps, elements))
    return true;
  // Something is wrong, or nothing is known: what, and where.
  Numbers positions(component, positionBytes);
  if (!hasGaps && positions[0] != 0)
    return refuse(level, "position 0 is %" PRId64 " instead of 0",
                  positions[0]);
  int64_t previous = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = positions[i];
    if (position < previous)
      return refuse(level,
                    "position %" PRId64 " is %" PRId64
                    ", less than the one before it, %" PRId64,
                    i, position, previous);
    previous = position;
  }
  if (hasGaps ? previous > elements : previous != elements)
    return refuse(level,
                  "the last position is %" PRId64 ", but it has %" PRId64
                  " coordinates",
                  previous, elements);
  return true;
}

/// Whether the elements are right, in the usual layouts; false also where that
/// is to be found out one by one. The positions have been checked.
bool StorageChecker::areElementsFine(const SparseAutogradMemRef1 &positions,
                                     const SparseAutogradMemRef1 *coordinates,
                                     int64_t elements) const {
  int64_t count = end - level;
  int64_t positionsOfParent = getFormat(level).positions;
  bool isPair = count == 2 && !kinds[level].isUnique;
  if ((count != 1 && !isPair) || positions.strides[0] != 1)
    return false;
  if (elements == 0)
    return true;
  if (extents[level] == 0 || extents[end - 1] == 0)
    return false;
  return withType(coordinateBytes, [&](auto coordinate) {
    using C = decltype(coordinate);
    // What C cannot hold is larger than all numbers.
    auto getLast = [](uint64_t extent) {
      constexpr uint64_t most = C(~C(0));
      return static_cast<C>(extent - 1 < most ? extent - 1 : most);
    };
    Coordinates<C> c = {getData<C>(coordinates[0]),
                        isPair ? getData<C>(coordinates[1]) : nullptr,
                        coordinates[0].strides[0],
                        coordinates[count - 1].strides[0],
                        getLast(extents[level]),
                        getLast(extents[end - 1])};
    return withType(positionBytes, [&](auto position) {
      using P = decltype(position);
      return areElementsInOrder(c, getData<P>(positions), parents,
                                positionsOfParent, elements);
    });
  });
}

/// Compares an element with the one before it, unless it is the first of its
/// parent.
bool StorageChecker::checkElement(const SparseAutogradMemRef1 *coordinates,
                                  int64_t element, bool isFirst) {
  bool isGreater = isFirst;
  int64_t unique = -1;
  for (int64_t at = level; at < end; ++at) {
    Numbers numbers(coordinates[at - level], coordinateBytes);
    int64_t coordinate = numbers[element];
    if (coordinate < 0 || coordinate >= extents[at])
      return refuse(at,
                    "coordinate %" PRId64 " is %" PRId64
                    ", not less than the extent %" PRId64,
                    element, coordinate, extents[at]);
    if (isGreater)
      continue;
    int64_t before = numbers[element - 1];
    if (coordinate < before)
      return refuse(at,
                    "coordinate %" PRId64 " is %" PRId64
                    ", less than the one before it, %" PRId64
                    ": they are not sorted",
                    element, coordinate, before);
    isGreater = coordinate > before;
    bool isUnique = kinds[at].isUnique || at + 1 == end;
    if (!isGreater && isUnique && unique < 0)
      unique = at;
  }
  if (unique >= 0)
    return refuse(
        unique,
        "coordinate %" PRId64 " is %" PRId64
        ", as the one before it, but must be unique",
        element,
        Numbers(coordinates[unique - level], coordinateBytes)[element]);
  return true;
}

bool StorageChecker::checkStored() {
  if (!checkArray(level, "positions", components[0],
                  getFormat(level).countPositions(parents), positionBytes))
    return false;
  Numbers positions(components[0], positionBytes);
  const SparseAutogradMemRef1 *coordinates = components + 1;
  int64_t elements = coordinates[0].sizes[0];
  for (end = level; end < levels; ++end) {
    if (end > level && !getFormat(end).isSingleton())
      break;
    // That of the first one is what the positions end with.
    if (!checkArray(end, "coordinates", coordinates[end - level], elements,
                    coordinateBytes))
      return false;
  }
  if (!checkPositions(components[0], elements))
    return false;
  bool isFine = areElementsFine(components[0], coordinates, elements);
  // Where something is wrong, what and where.
  for (int64_t parent = 0; parent < parents && !isFine; ++parent) {
    int64_t place = getFormat(level).positions * parent;
    int64_t first = positions[place], last = positions[place + 1];
    for (int64_t element = first; element < last; ++element)
      if (!checkElement(coordinates, element, element == first))
        return false;
  }
  components = coordinates + (end - level);
  parents = elements;
  return true;
}

bool StorageChecker::check() {
  if (levels < 1 || levels > mostLevels)
    return refuse(-1, "storage of %" PRId64 " levels", levels);
  if (!formats || !extents || !components)
    return refuse(-1, "the pointer to its %s is null",
                  !formats   ? "formats"
                  : !extents ? "extents"
                             : "descriptors");
  for (int64_t bytes : {positionBytes, coordinateBytes})
    if (!isWidth(bytes))
      return refuse(-1, "there are no numbers of %" PRId64 " bytes", bytes);
  for (int64_t at = 0; at < levels; ++at)
    kinds[at] = LevelKind::fromCode(formats[at]);
  int64_t wrong = checkFormats(levels, kinds, extents);
  if (wrong < levels)
    return refuse(-1,
                  "level %" PRId64 ": the format %" PRId64
                  " with the extent %" PRId64
                  " does not exist, or not after the levels before it",
                  wrong, formats[wrong], extents[wrong]);
  for (; level < levels; level = end) {
    end = level + 1;
    const LevelFormatInfo &format = getFormat(level);
    if (!(format.storesAll()  ? checkDense()
          : format.isPacked() ? checkPacked()
                              : checkStored()))
      return false;
  }
  return checkArray(-1, "values", components[0], parents, /*bytes=*/0);
}

int32_t sparseAutogradCheckStorage(const char *name, int64_t levels,
                                   const int64_t *formats,
                                   const int64_t *extents,
                                   int64_t positionBytes,
                                   int64_t coordinateBytes,
                                   const SparseAutogradMemRef1 *components) {
  StorageChecker checker(name, levels, formats, extents, positionBytes,
                         coordinateBytes, components);
  return checker.check() ? SPARSE_AUTOGRAD_SUCCESS
                         : SPARSE_AUTOGRAD_INVALID_ARGUMENT;
}
