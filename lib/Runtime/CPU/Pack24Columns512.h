//===- Pack24Columns512.h - 2:4 storage by columns in AVX-512 ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a register are groups, whose elements are rows: what is kept of
// each is looked up in a table that is a register, and the two rows that it
// stores are selected. The pairs of a block are gathered, then transposed in
// registers to whole lines of the cache, several of a column. Internal to
// Pack24.cpp, which asks `hasCompression` first.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACK24COLUMNS512_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACK24COLUMNS512_H

#include "Pack24Rows512.h"
#include "Vectors512.h"

namespace sparse_autograd {
namespace runtime {
namespace pack24 {

#if defined(__x86_64__)
/// What a group of a column, by the four bits of what it keeps, stores: its
/// metadata, and from which rows. The first value is that of the first row of
/// 0, 1 and 2 that is kept, the second that of the last of 3, 2 and 1 that is,
/// if there are two or it is row 3.
enum GroupCode : uint16_t {
  codeNibble = 0xF,
  codeFirst0 = 1 << 4,
  codeFirst1 = 1 << 5,
  codeFirst2 = 1 << 6,
  codeSecond1 = 1 << 7,
  codeSecond2 = 1 << 8,
  codeSecond3 = 1 << 9,
};

/// The table of codes, as a register has it.
struct GroupCodes {
  alignas(64) uint16_t codes[32] = {};

  constexpr GroupCodes() {
    for (unsigned kept = 0; kept < 16; ++kept) {
      bool hasTwo = splitGroups(kept).hasTwo();
      codes[kept] = getNibble(kept) | (kept & 1 ? codeFirst0 : 0) |
                    (kept & 2 ? codeFirst1 : 0) | (kept & 4 ? codeFirst2 : 0) |
                    (hasTwo ? codeSecond1 : 0) |
                    (hasTwo && kept & 4 ? codeSecond2 : 0) |
                    (kept & 8 ? codeSecond3 : 0);
    }
  }
};

static constexpr GroupCodes groupCodes;

/// Registers of groups, one for each column of a strip.
template <typename T>
struct GroupLanes {
  static constexpr int64_t count = stripColumns<T>, words = sizeof(T) / 2;

  /// For each word of a lane, the tile of the column and its place in the tile.
  alignas(64) uint16_t tiles[32] = {};
  alignas(64) uint16_t places[32] = {};

  constexpr GroupLanes() {
    for (int64_t word = 0; word < 32; ++word) {
      tiles[word] = word / words / tileSide;
      places[word] = word / words % tileSide;
    }
  }
};

template <typename T>
static constexpr GroupLanes<T> groupLanes;

/// `value` in lanes where `codes` has `bit`, `otherwise` in the others.
template <typename T>
SPARSE_AUTOGRAD_AVX512_INLINE __m512i selectLanes(__m512i codes, GroupCode bit,
                                                  __m512i value,
                                                  __m512i otherwise) {
  if constexpr (sizeof(T) == 2)
    return _mm512_mask_mov_epi16(
        otherwise, _mm512_test_epi16_mask(codes, _mm512_set1_epi16(bit)),
        value);
  else if constexpr (sizeof(T) == 4)
    return _mm512_mask_mov_epi32(
        otherwise, _mm512_test_epi32_mask(codes, _mm512_set1_epi32(bit)),
        value);
  else
    return _mm512_mask_mov_epi64(
        otherwise, _mm512_test_epi64_mask(codes, _mm512_set1_epi64(bit)),
        value);
}

/// The codes of a row of tiles of a strip, in each word of a lane. Of a strip
/// that is no whole one `columns` are there.
template <typename T, bool isWhole>
SPARSE_AUTOGRAD_AVX512_INLINE __m512i getCodes(const uint16_t *choices,
                                               int64_t columns) {
  constexpr int64_t tiles = stripColumns<T> / tileSide;
  __m128i choice;
  if constexpr (!isWhole)
    choice = _mm_maskz_loadu_epi16(
        static_cast<__mmask8>(
            (uint32_t(1) << ((columns + tileSide - 1) / tileSide)) - 1),
        choices);
  else if constexpr (tiles == 8)
    choice = _mm_loadu_si128(reinterpret_cast<const __m128i *>(choices));
  else if constexpr (tiles == 4)
    choice = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(choices));
  else
    choice = _mm_loadu_si32(choices);
  __m512i lanes = _mm512_permutexvar_epi16(
      _mm512_load_si512(groupLanes<T>.tiles), _mm512_castsi128_si512(choice));
  __m512i bits = _mm512_and_si512(
      _mm512_srlv_epi16(lanes, _mm512_load_si512(groupLanes<T>.places)),
      _mm512_set1_epi16(0x1111));
  // Bits 0, 4, 8 and 12, side by side above others.
  __m512i kept = _mm512_srli_epi16(
      _mm512_mullo_epi16(bits, _mm512_set1_epi16(0x1248)), 12);
  return _mm512_permutexvar_epi16(kept, _mm512_load_si512(groupCodes.codes));
}

/// A line of the columns of a strip.
template <typename T, bool isWhole>
SPARSE_AUTOGRAD_AVX512_INLINE __m512i loadColumns(const T *input,
                                                  int64_t columns) {
  if (isWhole)
    return loadLine(input);
  auto isThere = (uint64_t(1) << (columns * sizeof(T) / 2)) - 1;
  return _mm512_maskz_loadu_epi16(static_cast<__mmask32>(isThere), input);
}

/// The first and the second stored value of each column of a row of tiles, of
/// which `rows` rows are there.
template <typename T, bool isWhole>
SPARSE_AUTOGRAD_AVX512_INLINE void selectStored(const T *input, int64_t stride,
                                                int64_t rows, int64_t columns,
                                                __m512i codes, __m512i *pair) {
  const __m512i zero = _mm512_setzero_si512();
  __m512i elements[tileSide];
  for (int64_t row = 0; row < tileSide; ++row)
    elements[row] = isWhole || row < rows
                        ? loadColumns<T, isWhole>(input + row * stride, columns)
                        : zero;
  __m512i first = selectLanes<T>(codes, codeFirst2, elements[2], zero);
  first = selectLanes<T>(codes, codeFirst1, elements[1], first);
  pair[0] = selectLanes<T>(codes, codeFirst0, elements[0], first);
  __m512i second = selectLanes<T>(codes, codeSecond1, elements[1], zero);
  second = selectLanes<T>(codes, codeSecond2, elements[2], second);
  pair[1] = selectLanes<T>(codes, codeSecond3, elements[3], second);
}

/// Lines of the columns of a strip, from the pairs that rows of tiles store:
/// two registers for each.
template <typename T>
SPARSE_AUTOGRAD_AVX512_INLINE void transposePairs(const __m512i *pairs,
                                                  __m512i *lines) {
  if constexpr (sizeof(T) == 2) {
    // A pair is a word of 32 bits; the two halves have columns 8 b + j and
    // 8 b + 4 + j.
    for (int half = 0; half < 2; ++half) {
      __m512i words[16];
      for (int i = 0; i < 16; ++i)
        words[i] = half == 0
                       ? _mm512_unpacklo_epi16(pairs[2 * i], pairs[2 * i + 1])
                       : _mm512_unpackhi_epi16(pairs[2 * i], pairs[2 * i + 1]);
      transpose16x16(words);
      for (int i = 0; i < 16; ++i)
        lines[i / 4 * 8 + 4 * half + i % 4] = words[i];
    }
    return;
  }
  for (int64_t i = 0; i < stripColumns<T>; ++i)
    lines[i] = pairs[i];
  if constexpr (sizeof(T) == 4)
    transpose16x16(lines);
  else if constexpr (sizeof(T) == 8)
    transpose8x8(lines);
}

/// The metadata of the columns of a strip, 16 groups each, from words of four;
/// a column is at placeOfMetadata.
template <typename T>
SPARSE_AUTOGRAD_AVX512_INLINE void
joinMetadata(const __m512i words[bitsTiles / 4], uint64_t *metadata) {
  if constexpr (sizeof(T) == 8) {
    __m512i low = _mm512_mask_mov_epi16(words[0], 0x22222222, words[1]);
    __m512i high = _mm512_mask_mov_epi16(words[2], 0x88888888, words[3]);
    _mm512_storeu_si512(metadata, _mm512_mask_mov_epi32(low, 0xAAAA, high));
    return;
  }
  constexpr int64_t halves = 4 / sizeof(T);
  for (int half = 0; half < halves; ++half) {
    __m512i low, high;
    if constexpr (halves == 1) {
      low = _mm512_mask_mov_epi16(words[0], 0xAAAAAAAA, words[1]);
      high = _mm512_mask_mov_epi16(words[2], 0xAAAAAAAA, words[3]);
    } else if (half == 0) {
      low = _mm512_unpacklo_epi16(words[0], words[1]);
      high = _mm512_unpacklo_epi16(words[2], words[3]);
    } else {
      low = _mm512_unpackhi_epi16(words[0], words[1]);
      high = _mm512_unpackhi_epi16(words[2], words[3]);
    }
    _mm512_storeu_si512(metadata + 16 * half, _mm512_unpacklo_epi32(low, high));
    _mm512_storeu_si512(metadata + 16 * half + 8,
                        _mm512_unpackhi_epi32(low, high));
  }
}

/// In a block of 128 bits each of the instructions above leaves the first half
/// of what was there, or the second.
template <typename T>
static constexpr int64_t placeOfMetadata(int64_t column) {
  if constexpr (sizeof(T) == 8)
    return column;
  constexpr int64_t block = 16 / sizeof(T);
  return column % block / 2 * 8 + column / block * 2 + column % 2;
}

/// What the columns of a strip store of a block: pairs of values, two registers
/// for each row of tiles, and words of metadata for four of them.
struct StripPairs {
  __m512i pairs[2 * blockTiles];
  __m512i metadata[blockTiles / 4];
};

/// Gathers what strips of columns store of row `tile` of the tiles of a block,
/// all of whose rows and columns are there if it `isWhole`, and brings lines of
/// the row of tiles after it to the core's cache.
template <typename T, bool isWhole>
SPARSE_AUTOGRAD_AVX512_INLINE void
gatherStrips(const Block<T> &block, int64_t tile, StripPairs *strips) {
  const int64_t tileRow = block.tileRow + tile, stride = block.packing->columns;
  const int64_t rows = block.countRows(tileRow), numStrips = block.strips();
  const T *input = block.getInput(tileRow * tileSide) + block.column;
  const uint16_t *choices = block.packing->getChoices(block.matrix, tileRow) +
                            block.column / tileSide;
  // In the order in which they lie there: only then does the processor fetch
  // lines ahead of these.
  const T *next = input + tileSide * stride;
  int64_t nextColumn = 0;
  for (int64_t strip = 0; strip < numStrips; ++strip) {
    int64_t columns = stripColumns<T>;
    if (!isWhole)
      columns = std::min(columns, block.columns - strip * columns);
    for (int64_t i = 0; i < tileSide; ++i) {
      __builtin_prefetch(next + nextColumn, 0, 3);
      nextColumn += stripColumns<T>;
      if (nextColumn >= block.columns) {
        nextColumn = 0;
        next += stride;
      }
    }
    __m512i codes = getCodes<T, isWhole>(choices, columns);
    __m512i *pairs = strips[strip].pairs + 2 * tile;
    selectStored<T, isWhole>(input, stride, rows, columns, codes, pairs);
    // A nibble comes above those of the rows of tiles before.
    __m512i &word = strips[strip].metadata[tile / 4];
    word = _mm512_shrdi_epi16(word, codes, 4);
    input += stripColumns<T>;
    choices += stripColumns<T> / tileSide;
  }
}

template <typename T>
SPARSE_AUTOGRAD_AVX512 static void
gatherPairs(const Block<T> &block, int64_t tile, StripPairs *strips) {
  if (block.columns % stripColumns<T> == 0 &&
      block.countRows(block.tileRow + tile) == tileSide)
    gatherStrips<T, true>(block, tile, strips);
  else
    gatherStrips<T, false>(block, tile, strips);
}

/// Stores the lines of the columns of a strip that are whole.
template <typename T, bool isStreamed>
SPARSE_AUTOGRAD_AVX512_INLINE void
storeWhole(T *values, int64_t stride, int64_t columns, const __m512i *pairs) {
  __m512i lines[stripColumns<T>];
  transposePairs<T>(pairs, lines);
  if (columns == stripColumns<T>) {
    for (int64_t i = 0; i < stripColumns<T>; ++i, values += stride)
      storeLine<isStreamed>(values, lines[i]);
    return;
  }
  for (int64_t i = 0; i < columns; ++i, values += stride)
    storeLine<isStreamed>(values, lines[i]);
}

/// Stores what has been gathered of a strip of columns from `column` on.
template <typename T>
SPARSE_AUTOGRAD_AVX512 static void
storeColumns(const Block<T> &block, int64_t column, const StripPairs &strip) {
  // Rows of tiles whose pairs of values are a line of a column.
  constexpr int64_t lineTiles = 64 / (groupStored * sizeof(T));
  const Destination &to = block.packing->byColumns;
  int64_t columns =
      std::min(stripColumns<T>, block.column + block.columns - column);
  int64_t stride = groupStored * to.groups;
  T *values = block.getValues(column);
  bool isStreamed = to.isStreamed && isLine(values) && isLine(values + stride);
  int64_t begin = 0;
  for (; begin + lineTiles <= block.tileRows; begin += lineTiles)
    if (isStreamed)
      storeWhole<T, true>(values + groupStored * begin, stride, columns,
                          strip.pairs + 2 * begin);
    else
      storeWhole<T, false>(values + groupStored * begin, stride, columns,
                           strip.pairs + 2 * begin);
  if (int64_t count = block.tileRows - begin; count > 0) {
    __m512i lines[stripColumns<T>];
    transposePairs<T>(strip.pairs + 2 * begin, lines);
    int64_t words = count * groupStored * sizeof(T) / 4;
    auto isStored = static_cast<__mmask16>((uint32_t(1) << words) - 1);
    for (int64_t i = 0; i < columns; ++i)
      _mm512_mask_storeu_epi32(values + groupStored * begin + i * stride,
                               isStored, lines[i]);
  }
  if (!to.hasWholeBytes())
    return;
  for (begin = 0; begin < block.tileRows; begin += bitsTiles) {
    __m512i words[bitsTiles / 4];
    for (int64_t i = 0; i < bitsTiles / 4; ++i) {
      // Words of fewer than four rows of tiles have theirs on top.
      int64_t there = std::clamp<int64_t>(block.tileRows - begin - 4 * i, 0, 4);
      words[i] = _mm512_srlv_epi16(
          strip.metadata[begin / 4 + i],
          _mm512_set1_epi16(static_cast<int16_t>(16 - 4 * there)));
    }
    uint64_t metadata[stripColumns<T>];
    joinMetadata<T>(words, metadata);
    int64_t bytes = std::min(bitsTiles, block.tileRows - begin) / 2;
    uint8_t *coordinates = block.getCoordinates(column) + begin / 2;
    for (int64_t i = 0; i < columns; ++i, coordinates += to.groups / 2)
      if (bytes == sizeof(uint64_t))
        std::memcpy(coordinates, metadata + placeOfMetadata<T>(i),
                    sizeof(uint64_t));
      else
        std::memcpy(coordinates, metadata + placeOfMetadata<T>(i), bytes);
  }
}
#else
struct StripPairs {};
template <typename T>
void gatherPairs(const Block<T> &, int64_t, StripPairs *) {}
template <typename T>
void storeColumns(const Block<T> &, int64_t, const StripPairs &) {}
#endif

} // namespace pack24
} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACK24COLUMNS512_H
