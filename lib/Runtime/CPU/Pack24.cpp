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
// By rows, what is kept is bits (Groups24.h): 16 groups are one number, from
// which the metadata and what to store follow without a branch or a table.
// Values are compressed in registers of AVX-512 where there are any. By
// columns, the lanes of a register are groups, whose elements are rows: what is
// kept of each is looked up in a table that is a register, and the two rows
// that it stores are selected. The pairs of a block are gathered, then
// transposed in registers to whole lines of the cache, several of a column.
//
//===----------------------------------------------------------------------===//

#include "Groups24.h"
#include "MaskedRows.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "Stream.h"
#include "Vectors512.h"

#include <algorithm>
#include <cstring>

using namespace sparse_autograd::runtime;

namespace {

/// A tile has four rows of four elements. The bits of a row of 16 tiles are one
/// number; by columns, 16 rows of tiles are 8 bytes of metadata.
constexpr int64_t tileSide = 4, bitsTiles = 16;
/// Rows of tiles and bytes of a row of a block.
constexpr int64_t blockTiles = 4 * bitsTiles, blockBytes = 2048;
/// Choices that a word of 64 bits has.
constexpr int64_t wordTiles = 4, wordColumns = wordTiles * tileSide;
/// Columns that are stored at a time: those of a line of the cache.
template <typename T>
constexpr int64_t stripColumns = 64 / sizeof(T);

/// One order of storage: a row of `groups` groups for each row of a matrix, or
/// for each of its columns.
struct Destination {
  void *values;
  uint8_t *coordinates;
  int64_t groups;
  /// Whether values are stored past the caches.
  bool isStreamed;

  /// Bytes are a row's own.
  bool hasWholeBytes() const { return groups % 2 == 0; }
};

/// Matrices to pack.
struct Packing {
  int64_t matrices, rows, columns;
  const void *input;
  /// Null: what is not zero is kept.
  const uint16_t *choice;
  /// `values` of the second is null if it is not asked for.
  Destination byRows, byColumns;

  int64_t tileRows() const { return (rows + tileSide - 1) / tileSide; }
  int64_t tileColumns() const { return (columns + tileSide - 1) / tileSide; }
  const uint16_t *getChoices(int64_t matrix, int64_t tileRow) const {
    return choice + (matrix * tileRows() + tileRow) * tileColumns();
  }
};

/// A part of a matrix that is stored at a time: rows of tiles, and columns that
/// begin a strip.
template <typename T>
struct Block {
  const Packing *packing;
  int64_t matrix, tileRow, tileRows, column, columns;

  const T *getInput(int64_t row) const {
    return static_cast<const T *>(packing->input) +
           (matrix * packing->rows + row) * packing->columns;
  }
  /// The rows of a row of tiles that are there.
  int64_t countRows(int64_t tileRow) const {
    return std::min(tileSide, packing->rows - tileRow * tileSide);
  }
  /// The first group that a column stores.
  int64_t getGroup(int64_t column) const {
    return (matrix * packing->columns + column) * packing->byColumns.groups +
           tileRow;
  }
  T *getValues(int64_t column) const {
    return static_cast<T *>(packing->byColumns.values) +
           groupStored * getGroup(column);
  }
  /// Where bytes are a column's own.
  uint8_t *getCoordinates(int64_t column) const {
    return packing->byColumns.coordinates + getGroup(column) / 2;
  }
  int64_t strips() const {
    return (columns + stripColumns<T> - 1) / stripColumns<T>;
  }
};

} // namespace

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
// AVX-512
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
#define SPARSE_AUTOGRAD_AVX512                                                 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,"       \
                        "avx512vbmi2")))

static bool hasCompression() {
  static const bool has = __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vbmi") &&
                          __builtin_cpu_supports("avx512vbmi2");
  return has;
}

#define SPARSE_AUTOGRAD_AVX512_INLINE                                          \
  SPARSE_AUTOGRAD_AVX512 __attribute__((always_inline)) static inline

static bool isLine(const void *to) {
  return reinterpret_cast<uintptr_t>(to) % 64 == 0;
}

template <bool isStreamed>
SPARSE_AUTOGRAD_AVX512_INLINE void storeLine(void *to, __m512i line) {
  if (isStreamed)
    _mm512_stream_si512(static_cast<__m512i *>(to), line);
  else
    _mm512_storeu_si512(to, line);
}

/// A whole line, whose address alone the load waits for. A load under a mask
/// waits for the mask, and does not make the processor fetch the lines behind
/// it ahead of time: the compiler is kept from making one of this.
SPARSE_AUTOGRAD_AVX512_INLINE __m512i loadLine(const void *from) {
  __m512i line = _mm512_loadu_si512(from);
  asm("" : "+v"(line));
  return line;
}

/// The 16 groups of 64 elements, of which `stored` are stored: two a group.
template <bool isStreamed>
SPARSE_AUTOGRAD_AVX512_INLINE void packWhole(uint16_t *values,
                                             const uint16_t *input,
                                             uint64_t kept, uint64_t stored) {
  __m512i low = _mm512_maskz_compress_epi16(
      stored, _mm512_maskz_mov_epi16(kept, loadLine(input)));
  __m512i high = _mm512_maskz_compress_epi16(
      stored >> 32, _mm512_maskz_mov_epi16(kept >> 32, loadLine(input + 32)));
  storeLine<isStreamed>(
      values, _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1));
}

template <bool isStreamed>
SPARSE_AUTOGRAD_AVX512_INLINE void packWhole(uint32_t *values,
                                             const uint32_t *input,
                                             uint64_t kept, uint64_t stored) {
  for (int half = 0; half < 2; ++half, kept >>= 32, stored >>= 32) {
    __m512i low = _mm512_maskz_compress_epi32(
        stored, _mm512_maskz_mov_epi32(kept, loadLine(input + 32 * half)));
    __m512i high = _mm512_maskz_compress_epi32(
        stored >> 16,
        _mm512_maskz_mov_epi32(kept >> 16, loadLine(input + 32 * half + 16)));
    storeLine<isStreamed>(
        values + 16 * half,
        _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1));
  }
}

template <bool isStreamed>
SPARSE_AUTOGRAD_AVX512_INLINE void packWhole(uint64_t *values,
                                             const uint64_t *input,
                                             uint64_t kept, uint64_t stored) {
  for (int part = 0; part < 4; ++part, kept >>= 16, stored >>= 16) {
    __m512i low = _mm512_maskz_compress_epi64(
        stored, _mm512_maskz_mov_epi64(kept, loadLine(input + 16 * part)));
    __m512i high = _mm512_maskz_compress_epi64(
        stored >> 8,
        _mm512_maskz_mov_epi64(kept >> 8, loadLine(input + 16 * part + 8)));
    storeLine<isStreamed>(
        values + 8 * part,
        _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1));
  }
}

/// Stores 16 groups of a row and, of rows with bytes of their own, the
/// metadata.
template <typename T>
SPARSE_AUTOGRAD_AVX512_INLINE void
packBits(const Destination &to, int64_t group, const T *input, uint64_t kept,
         uint64_t stored, uint64_t nibbles) {
  T *values = static_cast<T *>(to.values) + groupStored * group;
  if (to.isStreamed && isLine(values))
    packWhole<true>(values, input, kept, stored);
  else
    packWhole<false>(values, input, kept, stored);
  if (to.hasWholeBytes())
    std::memcpy(to.coordinates + group / 2, &nibbles, sizeof(nibbles));
}

namespace {
/// What groups store, and their metadata, by the four bits of what they keep:
/// tables of bytes whose low half is a group, repeated in each block of a
/// register.
struct NibbleTables {
  alignas(64) uint8_t stored[64] = {}, metadata[64] = {};

  constexpr NibbleTables() {
    for (unsigned i = 0; i < 64; ++i) {
      stored[i] = joinGroups(splitGroups(i % 16).store()) & 0xF;
      metadata[i] = getNibble(i % 16);
    }
  }
};

/// Where the bytes of a row of four tiles begin in their choices, low and high
/// nibbles apart, and the words of a register that are those of a row then.
struct RowPlaces {
  alignas(64) uint8_t low[64] = {}, high[64] = {};
  alignas(64) uint16_t words[32] = {};

  constexpr RowPlaces() {
    for (int i = 0; i < 64; ++i) {
      int row = i % 8 / 2, tile = i % 2 * 2;
      low[i] = 16 * tile + 4 * row;
      high[i] = 16 * (tile + 1) + 4 * row - 4;
    }
    for (int i = 0; i < 32; ++i)
      words[i] = i % 8 * 4 + i / 8;
  }
};
} // namespace

static constexpr NibbleTables nibbleTables;
static constexpr RowPlaces rowPlaces;

/// The entries of `table` for each nibble of 32 choices.
SPARSE_AUTOGRAD_AVX512_INLINE __m512i lookUpNibbles(const uint8_t *table,
                                                    __m512i choices) {
  const __m512i half = _mm512_set1_epi8(0xF);
  __m512i entries = _mm512_load_si512(table);
  __m512i low = _mm512_shuffle_epi8(entries, _mm512_and_si512(choices, half));
  __m512i high = _mm512_shuffle_epi8(
      entries, _mm512_and_si512(_mm512_srli_epi16(choices, 4), half));
  return _mm512_or_si512(low, _mm512_slli_epi16(high, 4));
}

/// The nibbles of 32 tiles by rows: words 2 r and 2 r + 1 are those of row r.
SPARSE_AUTOGRAD_AVX512_INLINE void storeByRows(uint64_t *rows, __m512i tiles) {
  __m512i low =
      _mm512_multishift_epi64_epi8(_mm512_load_si512(rowPlaces.low), tiles);
  __m512i high =
      _mm512_multishift_epi64_epi8(_mm512_load_si512(rowPlaces.high), tiles);
  // low & 0x0F | high & 0xF0
  __m512i bytes =
      _mm512_ternarylogic_epi32(_mm512_set1_epi8(0xF), low, high, 0xCA);
  _mm512_store_si512(rows, _mm512_permutexvar_epi16(
                               _mm512_load_si512(rowPlaces.words), bytes));
}

namespace {
/// The bits of 128 columns of a row of tiles, by rows.
struct TileBits {
  static constexpr int64_t tiles = 32, parts = tiles / bitsTiles;
  alignas(64) uint64_t kept[tileSide * parts], stored[tileSide * parts],
      metadata[tileSide * parts];
};
} // namespace

/// Stores a row of tiles from column `begin` on, 64 columns at a time; returns
/// where fewer are left. Bits are made for several columns first: rows are read
/// one after the other, which processors fetch ahead of time.
template <typename T>
SPARSE_AUTOGRAD_AVX512 static int64_t packTiles512(const Block<T> &block,
                                                   int64_t tileRow,
                                                   int64_t begin, int64_t end) {
  constexpr int64_t parts = TileBits::parts, atOnce = 128 * parts;
  const Destination &to = block.packing->byRows;
  const uint16_t *choices = block.packing->getChoices(block.matrix, tileRow);
  int64_t firstGroup =
      (block.matrix * block.packing->rows + tileRow * tileSide) * to.groups;
  TileBits bits[atOnce / parts];
  while (begin + bitsExtent <= end) {
    int64_t count = std::min(atOnce, (end - begin) / bitsExtent);
    for (int64_t part = 0; part < count; part += parts) {
      __m512i tiles = _mm512_maskz_loadu_epi16(
          count - part >= parts ? 0xFFFFFFFF : 0xFFFF,
          choices + begin / tileSide + part * bitsTiles);
      TileBits &of = bits[part / parts];
      storeByRows(of.kept, tiles);
      storeByRows(of.stored, lookUpNibbles(nibbleTables.stored, tiles));
      storeByRows(of.metadata, lookUpNibbles(nibbleTables.metadata, tiles));
    }
    for (int64_t row = 0; row < block.countRows(tileRow); ++row) {
      const T *input = block.getInput(tileRow * tileSide + row) + begin;
      int64_t group = firstGroup + row * to.groups + begin / groupExtent;
      for (int64_t part = 0; part < count; ++part) {
        const TileBits &of = bits[part / parts];
        int64_t number = parts * row + part % parts;
        packBits(to, group + part * bitsGroups, input + part * bitsExtent,
                 of.kept[number], of.stored[number], of.metadata[number]);
      }
    }
    begin += count * bitsExtent;
  }
  return begin;
}

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

namespace {
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
} // namespace

static constexpr GroupCodes groupCodes;

/// Registers of groups, one for each column of a strip.
namespace {
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
} // namespace

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

namespace {
/// What the columns of a strip store of a block: pairs of values, two registers
/// for each row of tiles, and words of metadata for four of them.
struct StripPairs {
  __m512i pairs[2 * blockTiles];
  __m512i metadata[blockTiles / 4];
};
} // namespace

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

SPARSE_AUTOGRAD_AVX512_INLINE uint64_t findWhole(const uint16_t *input) {
  uint64_t bits = 0;
  for (int part = 0; part < 2; ++part) {
    __m512i x = _mm512_loadu_si512(input + 32 * part);
    bits |= uint64_t(_mm512_test_epi16_mask(x, _mm512_set1_epi16(0x7FFF)))
            << (32 * part);
  }
  return bits;
}

SPARSE_AUTOGRAD_AVX512_INLINE uint64_t findWhole(const uint32_t *input) {
  uint64_t bits = 0;
  for (int part = 0; part < 4; ++part) {
    __m512i x = _mm512_loadu_si512(input + 16 * part);
    bits |= uint64_t(_mm512_test_epi32_mask(x, _mm512_set1_epi32(INT32_MAX)))
            << (16 * part);
  }
  return bits;
}

SPARSE_AUTOGRAD_AVX512_INLINE uint64_t findWhole(const uint64_t *input) {
  uint64_t bits = 0;
  for (int part = 0; part < 8; ++part) {
    __m512i x = _mm512_loadu_si512(input + 8 * part);
    bits |= uint64_t(_mm512_test_epi64_mask(x, _mm512_set1_epi64(INT64_MAX)))
            << (8 * part);
  }
  return bits;
}
#else
static bool hasCompression() { return false; }
namespace {
struct StripPairs {};
} // namespace
template <typename T>
static void gatherPairs(const Block<T> &, int64_t, StripPairs *) {}
template <typename T>
static void storeColumns(const Block<T> &, int64_t, const StripPairs &) {}
#endif

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

/// Calls `function` with a null pointer to an integer of `bytes` bytes.
template <typename Function>
static void dispatch(int64_t bytes, const Function &function) {
  switch (bytes) {
  case 2:
    return function(static_cast<uint16_t *>(nullptr));
  case 4:
    return function(static_cast<uint32_t *>(nullptr));
  case 8:
    return function(static_cast<uint64_t *>(nullptr));
  default:
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_INVALID_ARGUMENT,
        "the elements of a 2:4 tensor have 2, 4 or 8 bytes, not {}", 1, &bytes);
  }
}

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
  dispatch(elementBytes, [&](auto *type) {
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
  dispatch(elementBytes, [&](auto *type) {
    packNonzeros<std::remove_pointer_t<decltype(type)>>(all);
  });
}
