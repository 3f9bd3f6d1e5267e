//===- Pack24.cpp - 2:4 storage from a choice -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pass over the dense matrix, a row of tiles after the other, in blocks
// whose columns are a part of a row that stays in the core's cache: each row of
// tiles is stored by rows and, if asked for, by columns.
//
// With AVX-512, rows (Pack24Rows512.h) and columns (Pack24Columns512.h) are
// made in registers.
//
//===----------------------------------------------------------------------===//

#include "DispatchElements.h"
#include "Pack24Columns512.h"
#include "Pack24Rows512.h"
#include "Packing24.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "Stream.h"

#include <algorithm>
#include <cstring>

using namespace sparse_autograd::runtime;
using namespace sparse_autograd::runtime::pack24;

//===----------------------------------------------------------------------===//
// Any processor
//===----------------------------------------------------------------------===//

/// Stores the groups of `count` elements, of which bits of `kept` are kept.
template <typename T>
static void packGroups(T *values, const T *input, int64_t count,
                       uint64_t kept) {
  for (int64_t group = 0; groupExtent * group < count; ++group) {
    uint64_t bits = kept >> (groupExtent * group);
    unsigned nibble = getNibble(bits);
    for (int64_t slot = 0; slot < groupStored; ++slot) {
      unsigned coordinate = nibble >> (2 * slot) & 3;
      *values++ = bits >> coordinate & 1
                      ? input[groupExtent * group + coordinate]
                      : T(0);
    }
  }
}

template <typename T>
static void packColumns(const Block<T> &block) {
  const Packing &packing = *block.packing;
  int64_t end = block.column + block.columns;
  for (int64_t column = block.column; column < end; ++column)
    for (int64_t tile = 0; tile < block.tileRows; ++tile) {
      int64_t tileRow = block.tileRow + tile;
      uint64_t kept = getColumnOfTile(
          packing.getChoices(block.matrix, tileRow)[column / tileSide],
          column % tileSide);
      T group[groupExtent] = {};
      for (int64_t i = 0; i < groupExtent; ++i)
        if (kept >> i & 1)
          group[i] = block.getInput(tileRow * tileSide + i)[column];
      packGroups(block.getValues(column) + groupStored * tile, group,
                 groupExtent, kept);
      if (!packing.byColumns.hasWholeBytes())
        continue;
      uint8_t &byte = block.getCoordinates(column)[tile / 2];
      unsigned nibble = getNibble(kept);
      byte = tile % 2 == 0 ? nibble : byte | nibble << 4;
    }
}

/// The elements of `input` that are not zero, as bits: of floats, whatever the
/// sign is.
template <typename T>
static uint64_t findNonzeros(const T *input, int64_t count) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < count; ++i)
    bits |= uint64_t(T(input[i] << 1) != 0) << i;
  return bits;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The choices of up to 16 tiles from `tile` on, four a word; those that there
/// are not keep nothing.
static void loadChoices(const uint16_t *choices, int64_t tile, int64_t end,
                        uint64_t words[bitsTiles / wordTiles]) {
  std::memset(words, 0, bitsTiles / wordTiles * sizeof(uint64_t));
  std::memcpy(words, choices + tile,
              std::min(bitsTiles, end - tile) * sizeof(uint16_t));
}

/// Stores up to 16 groups of a row from `column` on.
template <typename T>
static void packRow(const Packing &packing, int64_t row, int64_t column,
                    const T *input, uint64_t kept) {
  const Destination &to = packing.byRows;
  int64_t count = std::min(bitsExtent, packing.columns - column);
  int64_t group = row * to.groups + column / groupExtent;
  packGroups(static_cast<T *>(to.values) + groupStored * group, input, count,
             kept);
  if (to.hasWholeBytes()) {
    uint64_t nibbles = joinGroups(getCoordinateBits(splitGroups(kept).store()));
    std::memcpy(to.coordinates + group / 2, &nibbles, (count + 7) / 8);
  }
}

/// Stores a row of tiles of a block by rows.
template <typename T>
static void packTiles(const Block<T> &block, int64_t tileRow) {
  const Packing &packing = *block.packing;
  int64_t begin = block.column, end = block.column + block.columns;
#if defined(__x86_64__)
  if (hasCompression())
    begin = packTiles512(block, tileRow, begin, end);
#endif
  const uint16_t *choices = packing.getChoices(block.matrix, tileRow);
  for (int64_t row = 0; row < block.countRows(tileRow); ++row) {
    int64_t inMatrix = tileRow * tileSide + row;
    const T *input = block.getInput(inMatrix);
    for (int64_t column = begin; column < end; column += bitsExtent) {
      uint64_t words[bitsTiles / wordTiles], kept = 0;
      loadChoices(choices, column / tileSide, packing.tileColumns(), words);
      for (int64_t word = 0; word < bitsTiles / wordTiles; ++word)
        kept |= getRowOfTiles(words[word], row) << (wordColumns * word);
      packRow(packing, block.matrix * packing.rows + inMatrix, column,
              input + column, kept);
    }
  }
}

/// `gathered` has room for the strips of a block, where there is AVX-512.
template <typename T>
static void packBlock(const Block<T> &block, StripPairs *gathered) {
  const Packing &packing = *block.packing;
  bool isByColumns = packing.byColumns.values;
  for (int64_t tile = 0; tile < block.tileRows; ++tile) {
    int64_t tileRow = block.tileRow + tile;
    if (packing.byRows.values)
      packTiles(block, tileRow);
    if (isByColumns && gathered)
      gatherPairs(block, tile, gathered);
  }
  if (isByColumns && !gathered)
    packColumns(block);
  for (int64_t strip = 0; isByColumns && gathered && strip < block.strips();
       ++strip)
    storeColumns(block, block.column + strip * stripColumns<T>,
                 gathered[strip]);
}

/// What a choice keeps of the group `group` of rows, or of columns.
static uint64_t getKeptOfGroup(const Packing &packing, bool isByColumns,
                               int64_t group) {
  const Destination &to = isByColumns ? packing.byColumns : packing.byRows;
  int64_t line = group / to.groups, place = group % to.groups;
  int64_t lines = isByColumns ? packing.columns : packing.rows;
  int64_t matrix = line / lines;
  line %= lines;
  int64_t tileRow = isByColumns ? place : line / tileSide;
  int64_t tileColumn = isByColumns ? line / tileSide : place;
  unsigned choice = packing.getChoices(matrix, tileRow)[tileColumn];
  if (isByColumns)
    return getColumnOfTile(choice, line % tileSide);
  return choice >> (tileSide * (line % tileSide)) & 0xF;
}

/// The metadata where a byte has groups of two rows.
static void packSharedBytes(const Packing &packing, bool isByColumns) {
  struct Environment {
    const Packing *packing;
    bool isByColumns;
    int64_t groups;
  } environment = {&packing, isByColumns, 0};
  const Destination &to = isByColumns ? packing.byColumns : packing.byRows;
  environment.groups = packing.matrices * to.groups *
                       (isByColumns ? packing.columns : packing.rows);
  sparseAutogradParallelFor(
      (environment.groups + 1) / 2, 4096,
      [](void *opaque, int64_t begin, int64_t end) {
        const auto &env = *static_cast<const Environment *>(opaque);
        const Destination &to =
            env.isByColumns ? env.packing->byColumns : env.packing->byRows;
        for (int64_t byte = begin; byte < end; ++byte) {
          unsigned nibbles[2];
          for (int64_t i = 0; i < 2; ++i)
            nibbles[i] =
                getNibble(2 * byte + i < env.groups
                              ? getKeptOfGroup(*env.packing, env.isByColumns,
                                               2 * byte + i)
                              : 0);
          to.coordinates[byte] = nibbles[0] | nibbles[1] << 4;
        }
      },
      &environment);
}

/// Packs blocks of rows of tiles.
template <typename T>
static void packBlocks(void *opaque, int64_t begin, int64_t end) {
  const auto &packing = *static_cast<const Packing *>(opaque);
  int64_t blocks = (packing.tileRows() + blockTiles - 1) / blockTiles;
  int64_t width = packing.columns;
  StripPairs *gathered = nullptr;
  // By rows alone, whole rows are read one after the other.
  if (packing.byColumns.values) {
    width = std::min<int64_t>(width, blockBytes / sizeof(T));
    int64_t strips = (width + stripColumns<T> - 1) / stripColumns<T>;
    if (hasCompression())
      gathered = static_cast<StripPairs *>(sparseAutogradAllocate(
          strips * static_cast<int64_t>(sizeof(StripPairs))));
  }
  // The blocks below each other are stored one after the other, so that the
  // pages that their columns go to are few.
  for (int64_t column = 0; column < packing.columns; column += width)
    for (int64_t number = begin; number < end; ++number) {
      Block<T> block = {};
      block.packing = &packing;
      block.matrix = number / blocks;
      block.tileRow = number % blocks * blockTiles;
      block.tileRows = std::min(blockTiles, packing.tileRows() - block.tileRow);
      block.column = column;
      block.columns = std::min(width, packing.columns - column);
      packBlock(block, gathered);
    }
  sparseAutogradDeallocate(gathered);
}

template <typename T>
static void packMatrices(const Packing &packing) {
  int64_t blocks = (packing.tileRows() + blockTiles - 1) / blockTiles;
  sparseAutogradParallelFor(packing.matrices * blocks, 1, packBlocks<T>,
                            const_cast<Packing *>(&packing));
}

//===----------------------------------------------------------------------===//
// What is not zero
//===----------------------------------------------------------------------===//

/// Raises for the first group of `row` from `column` on that has more than two
/// elements.
[[noreturn]] static void raiseTooMany(int64_t level, int64_t row,
                                      int64_t column, uint64_t groups) {
  int64_t group = column / groupExtent + __builtin_ctzll(groups) / groupExtent;
  int64_t values[] = {level, group, row, groupStored, groupExtent};
  sparseAutogradRaiseWithValues(
      SPARSE_AUTOGRAD_INVALID_ARGUMENT,
      "level {}: group {} of row {} stores more than {} of its {} elements; "
      "set the others to zero before, or store the tensor in another format",
      5, values);
}

namespace {
/// Rows to pack, and the level that messages name.
struct Rows {
  Packing packing;
  int64_t level;
};
} // namespace

#if defined(__x86_64__)
/// As packTiles512, of what is not zero of a row.
template <typename T>
SPARSE_AUTOGRAD_AVX512 static int64_t
packNonzeros512(const Packing &packing, int64_t level, int64_t row) {
  const T *input =
      static_cast<const T *>(packing.input) + row * packing.columns;
  int64_t column = 0;
  for (; column + bitsExtent <= packing.columns; column += bitsExtent) {
    uint64_t kept = findWhole(input + column);
    if (uint64_t three = splitGroups(kept).hasThree())
      raiseTooMany(level, row, column, three);
    KeptBits stored = splitGroups(kept).store();
    packBits(packing.byRows, row * packing.byRows.groups + column / groupExtent,
             input + column, kept, joinGroups(stored),
             joinGroups(getCoordinateBits(stored)));
  }
  return column;
}
#endif

template <typename T>
static void packNonzeros(const Rows &rows) {
  int64_t grain = std::max<int64_t>(
      2, (1 << 14) / std::max<int64_t>(rows.packing.columns, 1) / 2 * 2);
  sparseAutogradParallelFor(
      rows.packing.rows, grain,
      [](void *opaque, int64_t begin, int64_t end) {
        const auto &env = *static_cast<const Rows *>(opaque);
        const Packing &packing = env.packing;
        for (int64_t row = begin; row < end; ++row) {
          int64_t first = 0;
#if defined(__x86_64__)
          if (packing.byRows.hasWholeBytes() && hasCompression())
            first = packNonzeros512<T>(packing, env.level, row);
#endif
          for (int64_t column = first; column < packing.columns;
               column += bitsExtent) {
            const T *input = static_cast<const T *>(packing.input) +
                             row * packing.columns + column;
            int64_t count = std::min(bitsExtent, packing.columns - column);
            uint64_t kept = findNonzeros(input, count);
            if (uint64_t three = splitGroups(kept).hasThree())
              raiseTooMany(env.level, row, column, three);
            packRow(packing, row, column, input, kept);
            if (packing.byRows.hasWholeBytes())
              continue;
            // Two rows, an even one and the next, share a byte.
            int64_t group = row * packing.byRows.groups + column / groupExtent;
            for (int64_t i = 0; groupExtent * i < count; ++i) {
              uint8_t &byte = packing.byRows.coordinates[(group + i) / 2];
              unsigned nibble = getNibble(kept >> (groupExtent * i));
              byte = (group + i) % 2 == 0 ? nibble | 0xE0
                                          : (byte & 0xF) | nibble << 4;
            }
          }
        }
      },
      const_cast<Rows *>(&rows));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Destination describe(void *values, uint8_t *coordinates,
                            int64_t extent) {
  return {values, coordinates, (extent + groupExtent - 1) / groupExtent, false};
}

/// Values are stored past the caches where what is read and what is stored are
/// more than these hold: lines of columns, which are far apart, are never
/// joined there.
static void chooseStreams(Packing &packing, int64_t elementBytes) {
  int64_t total = packing.matrices * packing.rows * packing.columns;
  if (packing.byRows.values)
    total +=
        packing.matrices * packing.rows * packing.byRows.groups * groupStored;
  if (packing.byColumns.values)
    total += packing.matrices * packing.columns * packing.byColumns.groups *
             groupStored;
  packing.byRows.isStreamed = packing.byColumns.isStreamed =
      isPastCaches(total * elementBytes);
}

void sparseAutogradPack24(int64_t matrices, int64_t rows, int64_t columns,
                          int64_t elementBytes, const void *input,
                          const uint16_t *choice, void *values,
                          uint8_t *coordinates, void *transposedValues,
                          uint8_t *transposedCoordinates) {
  if (matrices == 0 || rows == 0 || columns == 0)
    return;
  Packing packing = {};
  packing.matrices = matrices;
  packing.rows = rows;
  packing.columns = columns;
  packing.input = input;
  packing.choice = choice;
  packing.byRows = describe(values, coordinates, columns);
  packing.byColumns = describe(transposedValues, transposedCoordinates, rows);
  chooseStreams(packing, elementBytes);
  dispatchElements<uint16_t, uint32_t, uint64_t>(elementBytes, [&](auto *type) {
    packMatrices<std::remove_pointer_t<decltype(type)>>(packing);
  });
  for (bool isByColumns : {false, true}) {
    const Destination &to = isByColumns ? packing.byColumns : packing.byRows;
    if (to.values && !to.hasWholeBytes())
      packSharedBytes(packing, isByColumns);
  }
}

void sparseAutogradPackNonzeros24(int64_t level, int64_t rows, int64_t columns,
                                  int64_t elementBytes, const void *input,
                                  void *values, uint8_t *coordinates) {
  if (rows == 0 || columns == 0)
    return;
  Rows all = {};
  all.level = level;
  all.packing.matrices = 1;
  all.packing.rows = rows;
  all.packing.columns = columns;
  all.packing.input = input;
  all.packing.byRows = describe(values, coordinates, columns);
  chooseStreams(all.packing, elementBytes);
  dispatchElements<uint16_t, uint32_t, uint64_t>(elementBytes, [&](auto *type) {
    packNonzeros<std::remove_pointer_t<decltype(type)>>(all);
  });
}
