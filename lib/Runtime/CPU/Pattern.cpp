//===- Pattern.cpp - Validated patterns, and sparse arguments ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pattern is one block of memory: the object, its levels, the words of its
// storage, and the lists where it owns them. What an entry got as a sparse
// argument is either validated or compared with a pattern.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseLevels.h"
#include "ThreadState.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

using namespace sparse_autograd;
using namespace sparse_autograd::runtime;

struct SparseAutogradPattern {
  SparseAutogradEncoding encoding;
  int64_t rank;
  int64_t lists; ///< without that of the values
  int64_t *words;

  SparseAutogradMemRef1 *components() const {
    return reinterpret_cast<SparseAutogradMemRef1 *>(words);
  }
  int64_t countWords() const { return 5 * (lists + 1) + rank; }
};

namespace {
/// What an encoding says of storage.
struct Layout {
  int64_t formats[mostLevels];
  int64_t bytes[2 * mostLevels]; ///< of the elements of each list
  int64_t lists = 0;             ///< without that of the values
  int64_t rank = 0;

  explicit Layout(const SparseAutogradEncoding &encoding) {
    for (int64_t level = 0; level < encoding.levelCount; ++level) {
      const SparseAutogradLevel &described = encoding.levels[level];
      formats[level] = described.format;
      rank = std::max(rank, described.dimension + 1);
      const LevelFormatInfo &format =
          *LevelKind::fromCode(described.format).format;
      if (format.hasPositions())
        bytes[lists++] = encoding.positionBytes;
      if (format.hasCoordinates())
        bytes[lists++] = format.isPacked() ? 1 : encoding.coordinateBytes;
    }
  }
};
} // namespace

/// The extents of levels from those of dimensions.
static void findExtents(const SparseAutogradEncoding &encoding,
                        const int64_t *shape, int64_t *extents) {
  for (int64_t level = 0; level < encoding.levelCount; ++level) {
    const SparseAutogradLevel &described = encoding.levels[level];
    int64_t extent = shape[described.dimension], block = described.block;
    extents[level] = block == 0 ? extent
                     : described.isRemainder
                         ? block
                         : extent / block + (extent % block != 0);
  }
}

/// Validates storage; the status, with the error set.
static int32_t validate(const char *name,
                        const SparseAutogradEncoding &encoding,
                        const Layout &layout, const void *storage) {
  auto *components = static_cast<const SparseAutogradMemRef1 *>(storage);
  auto *shape =
      reinterpret_cast<const int64_t *>(components + layout.lists + 1);
  int64_t extents[mostLevels];
  findExtents(encoding, shape, extents);
  return sparseAutogradCheckStorage(name, encoding.levelCount, layout.formats,
                                    extents, encoding.positionBytes,
                                    encoding.coordinateBytes, components);
}

/// Whether two lists are the same memory, in the same order.
static bool isSameList(const SparseAutogradMemRef1 &a,
                       const SparseAutogradMemRef1 &b, int64_t bytes) {
  int64_t size = a.sizes[0];
  if (size != b.sizes[0])
    return false;
  auto getAddress = [&](const SparseAutogradMemRef1 &list) {
    return reinterpret_cast<uintptr_t>(list.aligned) +
           static_cast<uint64_t>(list.offset) * static_cast<uint64_t>(bytes);
  };
  return size == 0 || (getAddress(a) == getAddress(b) &&
                       (size == 1 || a.strides[0] == b.strides[0]));
}

/// Whether the storage of an argument has a pattern; if not, why.
static const char *compare(const SparseAutogradPattern &pattern,
                           const SparseAutogradEncoding &encoding,
                           const Layout &layout, const void *storage) {
  const SparseAutogradEncoding &other = pattern.encoding;
  if (other.levelCount != encoding.levelCount ||
      other.positionBytes != encoding.positionBytes ||
      other.coordinateBytes != encoding.coordinateBytes ||
      std::memcmp(other.levels, encoding.levels,
                  encoding.levelCount * sizeof(SparseAutogradLevel)) != 0)
    return "the pattern has another encoding";
  auto *components = static_cast<const SparseAutogradMemRef1 *>(storage);
  if (std::memcmp(components + layout.lists + 1,
                  pattern.components() + layout.lists + 1,
                  8 * layout.rank) != 0)
    return "the extents are not those of the pattern";
  for (int64_t list = 0; list < layout.lists; ++list)
    if (!isSameList(components[list], pattern.components()[list],
                    layout.bytes[list]))
      return "the positions or coordinates are not the lists of the pattern";
  if (components[layout.lists].sizes[0] !=
      pattern.components()[layout.lists].sizes[0])
    return "the values are not as many as those of the pattern";
  return nullptr;
}

void sparseAutogradCheckArgument(const char *name, int64_t argument,
                                 int64_t levelCount,
                                 const SparseAutogradLevel *levels,
                                 int64_t positionBytes, int64_t coordinateBytes,
                                 const void *storage) {
  if (levelCount < 1 || levelCount > mostLevels)
    sparseAutogradRaiseWithValues(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                                  "storage of {} levels", 1, &levelCount);
  SparseAutogradEncoding encoding = {levelCount, levels, positionBytes,
                                     coordinateBytes};
  Layout layout(encoding);
  const SparseAutogradPattern *pattern = getPattern(argument);
  if (!pattern) {
    int32_t status = SPARSE_AUTOGRAD_SUCCESS;
    addTime(&SparseAutogradCallTimes::check,
            [&] { status = validate(name, encoding, layout, storage); });
    if (status != SPARSE_AUTOGRAD_SUCCESS)
      sparseAutogradRaise(status, sparseAutogradLastError());
    return;
  }
  const char *problem = compare(*pattern, encoding, layout, storage);
  if (!problem)
    return;
  char text[messageCapacity];
  std::snprintf(text, sizeof(text),
                "%s: %s; give the storage that sparseAutogradPatternStorage "
                "returns, or no pattern",
                name, problem);
  sparseAutogradRaise(SPARSE_AUTOGRAD_INVALID_ARGUMENT, text);
}

static int32_t refuse(const char *name, const char *problem,
                      int32_t status = SPARSE_AUTOGRAD_INVALID_ARGUMENT) {
  char text[messageCapacity];
  std::snprintf(text, sizeof(text), "%s%s%s", name ? name : "",
                name && *name ? ": " : "", problem);
  setLastError(status, text);
  return status;
}

/// What is wrong with an encoding before anything of it is used; null if
/// nothing is.
static const char *checkEncoding(const SparseAutogradEncoding &encoding) {
  if (encoding.levelCount < 1 || encoding.levelCount > mostLevels)
    return "an encoding has 1 to 64 levels";
  if (!encoding.levels)
    return "the pointer to the levels of its encoding is null";
  for (int64_t level = 0; level < encoding.levelCount; ++level) {
    const SparseAutogradLevel &described = encoding.levels[level];
    if (described.dimension < 0 || described.dimension >= encoding.levelCount)
      return "a level of its encoding has a dimension that does not exist";
    if (described.block < 0)
      return "a level of its encoding has a negative block";
  }
  return nullptr;
}

/// Copies the lists of a pattern to `memory`, each one contiguous.
static void copyLists(SparseAutogradPattern &pattern, const Layout &layout,
                      char *memory) {
  for (int64_t number = 0; number < pattern.lists; ++number) {
    SparseAutogradMemRef1 &list = pattern.components()[number];
    int64_t size = list.sizes[0], bytes = layout.bytes[number];
    const char *from =
        static_cast<const char *>(list.aligned) + list.offset * bytes;
    if (size > 0 && list.strides[0] == 1)
      std::memcpy(memory, from, size * bytes);
    else
      for (int64_t i = 0; i < size; ++i)
        std::memcpy(memory + i * bytes, from + i * list.strides[0] * bytes,
                    bytes);
    list = {nullptr, memory, 0, {size}, {1}};
    memory += (size * bytes + 63) / 64 * 64;
  }
}

int32_t sparseAutogradPatternCreate(const char *name,
                                    const SparseAutogradEncoding *encoding,
                                    const void *storage, int32_t ownership,
                                    SparseAutogradPattern **pattern) {
  if (!pattern)
    return refuse(name, "the pointer to the place of the pattern is null");
  *pattern = nullptr;
  if (!encoding || !storage)
    return refuse(name, encoding ? "the pointer to its storage is null"
                                 : "the pointer to its encoding is null");
  if (ownership != SPARSE_AUTOGRAD_BORROW && ownership != SPARSE_AUTOGRAD_COPY)
    return refuse(name, "there is no such ownership");
  if (const char *problem = checkEncoding(*encoding))
    return refuse(name, problem);
  Layout layout(*encoding);
  if (int32_t status = validate(name, *encoding, layout, storage))
    return status;

  auto *components = static_cast<const SparseAutogradMemRef1 *>(storage);
  size_t words = 5 * (layout.lists + 1) + layout.rank;
  size_t levelBytes = encoding->levelCount * sizeof(SparseAutogradLevel);
  size_t head = sizeof(SparseAutogradPattern) + levelBytes + 8 * words;
  head = (head + 63) / 64 * 64;
  size_t total = head;
  for (int64_t list = 0;
       ownership == SPARSE_AUTOGRAD_COPY && list < layout.lists; ++list)
    total += (components[list].sizes[0] * layout.bytes[list] + 63) / 64 * 64;
  void *memory = nullptr;
  if (posix_memalign(&memory, 64, total))
    return refuse(name, "out of memory: the system refused that of a pattern",
                  SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  auto *made = new (memory) SparseAutogradPattern;
  auto *levels = reinterpret_cast<SparseAutogradLevel *>(made + 1);
  std::memcpy(levels, encoding->levels, levelBytes);
  made->encoding = *encoding;
  made->encoding.levels = levels;
  made->rank = layout.rank;
  made->lists = layout.lists;
  made->words = reinterpret_cast<int64_t *>(reinterpret_cast<char *>(levels) +
                                            levelBytes);
  std::memcpy(made->words, storage, 8 * words);
  if (ownership == SPARSE_AUTOGRAD_COPY)
    copyLists(*made, layout, static_cast<char *>(memory) + head);
  SparseAutogradMemRef1 &values = made->components()[made->lists];
  values = {nullptr, nullptr, 0, {values.sizes[0]}, {1}};
  *pattern = made;
  return SPARSE_AUTOGRAD_SUCCESS;
}

void sparseAutogradPatternDestroy(SparseAutogradPattern *pattern) {
  std::free(pattern);
}

const void *sparseAutogradPatternStorage(const SparseAutogradPattern *pattern,
                                         int64_t *words) {
  if (words)
    *words = pattern ? pattern->countWords() : 0;
  return pattern ? pattern->words : nullptr;
}
