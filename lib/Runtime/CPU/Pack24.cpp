//===- Pack24.cpp - 2:4 storage from a choice -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pass over the dense matrix, in blocks of 64 x 512 elements that stay in
// the core's cache: each is stored by rows and, if asked for, by columns. What
// is kept is bits (Groups24.h): 16 groups of a row are one number, from which
// the metadata and what to store follow without a branch or a table. Values are
// compressed in registers of AVX-512 where there are any.
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

/// A tile has four rows of four elements; a block, 16 rows of tiles.
constexpr int64_t tileSide = 4, blockTiles = 16,
                  blockExtent = blockTiles * tileSide, blockColumns = 512;
/// Columns that are stored at a time, and their tiles.
constexpr int64_t stripColumns = 16, stripTiles = stripColumns / tileSide;

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

/// A part of 16 columns of a block: its rows and columns that are there, the
/// choices of its tiles, four a word, and where its first column goes.
template <typename T>
struct Strip {
  const T *input;
  int64_t inputStride, rows, columns;
  uint64_t choices[blockTiles];
  T *values;
  int64_t valueStride;
  /// Null if bytes are not a column's own.
  uint8_t *coordinates;
  int64_t coordinateStride;
  bool isStreamed;

  int64_t tileRows() const { return (rows + tileSide - 1) / tileSide; }
  KeptBits getKept(int64_t tileRow) const {
    KeptBits kept;
    for (int64_t row = 0; row < tileSide; ++row)
      kept.element[row] = getRowOfTiles(choices[tileRow], row);
    return kept;
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
static void packStrip(const Strip<T> &strip) {
  for (int64_t column = 0; column < strip.columns; ++column)
    for (int64_t tileRow = 0; tileRow < strip.tileRows(); ++tileRow) {
      KeptBits kept = strip.getKept(tileRow);
      T group[groupExtent] = {};
      uint64_t bits = 0;
      for (int64_t i = 0; i < groupExtent; ++i)
        if (kept.element[i] >> column & 1) {
          bits |= uint64_t(1) << i;
          group[i] =
              strip
                  .input[(tileSide * tileRow + i) * strip.inputStride + column];
        }
      packGroups(strip.values + column * strip.valueStride +
                     groupStored * tileRow,
                 group, groupExtent, bits);
      if (!strip.coordinates)
        continue;
      uint8_t &byte =
          strip.coordinates[column * strip.coordinateStride + tileRow / 2];
      unsigned nibble = getNibble(bits);
      byte = tileRow % 2 == 0 ? nibble : byte | nibble << 4;
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
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2,"      \
                        "bmi2")))

static bool hasCompression() {
  static const bool has =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
  return has;
}

#define SPARSE_AUTOGRAD_AVX512_INLINE                                          \
  SPARSE_AUTOGRAD_AVX512 __attribute__((always_inline)) static inline

SPARSE_AUTOGRAD_AVX512_INLINE void storeLine(void *to, __m512i line,
                                             bool isStreamed) {
  if (isStreamed && reinterpret_cast<uintptr_t>(to) % 64 == 0)
    _mm512_stream_si512(static_cast<__m512i *>(to), line);
  else
    _mm512_storeu_si512(to, line);
}

/// The 16 groups of 64 elements, of which `stored` are stored: two a group.
SPARSE_AUTOGRAD_AVX512_INLINE void packWhole(uint16_t *values,
                                             const uint16_t *input,
                                             uint64_t kept, uint64_t stored,
                                             bool isStreamed) {
  __m512i low = _mm512_maskz_compress_epi16(
      stored, _mm512_maskz_loadu_epi16(kept, input));
  __m512i high = _mm512_maskz_compress_epi16(
      stored >> 32, _mm512_maskz_loadu_epi16(kept >> 32, input + 32));
  storeLine(values, _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1),
            isStreamed);
}

SPARSE_AUTOGRAD_AVX512_INLINE void packWhole(uint32_t *values,
                                             const uint32_t *input,
                                             uint64_t kept, uint64_t stored,
                                             bool isStreamed) {
  for (int half = 0; half < 2; ++half, kept >>= 32, stored >>= 32) {
    __m512i low = _mm512_maskz_compress_epi32(
        stored, _mm512_maskz_loadu_epi32(kept, input + 32 * half));
    __m512i high = _mm512_maskz_compress_epi32(
        stored >> 16,
        _mm512_maskz_loadu_epi32(kept >> 16, input + 32 * half + 16));
    storeLine(values + 16 * half,
              _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1),
              isStreamed);
  }
}

SPARSE_AUTOGRAD_AVX512_INLINE void packWhole(uint64_t *values,
                                             const uint64_t *input,
                                             uint64_t kept, uint64_t stored,
                                             bool) {
  for (int part = 0; part < 8; ++part) {
    __m512i both = _mm512_maskz_compress_epi64(
        stored >> (8 * part),
        _mm512_maskz_loadu_epi64(kept >> (8 * part), input + 8 * part));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(values + 4 * part),
                        _mm512_castsi512_si256(both));
  }
}

SPARSE_AUTOGRAD_AVX512_INLINE __m512i loadWords(__mmask16 kept,
                                                const uint16_t *input) {
  return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(kept, input));
}

SPARSE_AUTOGRAD_AVX512_INLINE __m512i loadWords(__mmask16 kept,
                                                const uint32_t *input) {
  return _mm512_maskz_loadu_epi32(kept, input);
}

/// The metadata of 16 columns of one row of tiles, a nibble a byte.
SPARSE_AUTOGRAD_AVX512_INLINE __m128i getNibbles(const KeptBits &stored) {
  KeptBits bits = getCoordinateBits(stored);
  __m128i nibbles = _mm_setzero_si128();
  for (int i = 0; i < 4; ++i)
    nibbles = _mm_or_si128(
        nibbles, _mm_maskz_set1_epi8(static_cast<__mmask16>(bits.element[i]),
                                     static_cast<char>(1 << i)));
  return nibbles;
}

/// getRowOfTiles by one instruction.
SPARSE_AUTOGRAD_AVX512_INLINE uint64_t extractRow(uint64_t choices,
                                                  int64_t row) {
  return _pext_u64(choices, uint64_t(0x000F000F000F000F) << (4 * row));
}

/// Stores 16 groups of a row and, of rows with bytes of their own, the
/// metadata.
template <typename T>
SPARSE_AUTOGRAD_AVX512_INLINE void packRow512(const Destination &to,
                                              int64_t group, const T *input,
                                              uint64_t kept) {
  KeptBits stored = splitGroups(kept).store();
  packWhole(static_cast<T *>(to.values) + groupStored * group, input, kept,
            joinGroups(stored), to.isStreamed);
  if (to.hasWholeBytes()) {
    uint64_t nibbles = joinGroups(getCoordinateBits(stored));
    std::memcpy(to.coordinates + group / 2, &nibbles, sizeof(nibbles));
  }
}

/// Stores the columns from `begin` on of row `row`, 64 at a time; returns where
/// fewer are left.
template <typename T>
SPARSE_AUTOGRAD_AVX512 static int64_t packRows512(const Packing &packing,
                                                  int64_t matrix, int64_t row,
                                                  int64_t begin, int64_t end) {
  const Destination &to = packing.byRows;
  const uint16_t *choices = packing.getChoices(matrix, row / tileSide);
  int64_t number = matrix * packing.rows + row, inTile = row % tileSide;
  const T *input =
      static_cast<const T *>(packing.input) + number * packing.columns;
  for (; begin + blockExtent <= end; begin += blockExtent) {
    uint64_t words[blockTiles / stripTiles], kept = 0;
    std::memcpy(words, choices + begin / tileSide, sizeof(words));
    for (int64_t word = 0; word < blockTiles / stripTiles; ++word)
      kept |= extractRow(words[word], inTile) << (stripColumns * word);
    packRow512(to, number * to.groups + begin / groupExtent, input + begin,
               kept);
  }
  return begin;
}

/// The first and the second stored value of each column of a row of tiles.
template <typename T>
SPARSE_AUTOGRAD_AVX512_INLINE void
selectStored(const T *input, int64_t stride, const KeptBits &kept,
             const KeptBits &stored, __m512i &first, __m512i &second) {
  __m512i rows[tileSide];
  for (int64_t row = 0; row < tileSide; ++row)
    rows[row] = kept.element[row]
                    ? loadWords(static_cast<__mmask16>(kept.element[row]),
                                input + row * stride)
                    : _mm512_setzero_si512();
  auto is = [&](int64_t row) {
    return static_cast<__mmask16>(stored.element[row]);
  };
  first = _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(rows[2], is(1), rows[1]),
                                is(0), rows[0]);
  second = _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(rows[1], is(2), rows[2]),
                                 is(3), rows[3]);
}

/// Stores lines of `columns` columns; those of a part are of `bytes` bytes.
SPARSE_AUTOGRAD_AVX512_INLINE void storeColumns(char *to, int64_t stride,
                                                const __m512i *lines,
                                                int64_t columns, int64_t bytes,
                                                bool isStreamed) {
  auto mask = static_cast<__mmask16>((uint32_t(1) << (bytes / 4)) - 1);
  for (int64_t column = 0; column < columns; ++column)
    if (bytes == 64)
      storeLine(to + column * stride, lines[column], isStreamed);
    else
      _mm512_mask_storeu_epi32(to + column * stride, mask, lines[column]);
}

template <typename T>
SPARSE_AUTOGRAD_AVX512 static void packStrip512(const Strip<T> &strip) {
  // Rows of tiles whose pairs of values are a line, and the words of a pair.
  constexpr int64_t lineTiles = 64 / (groupStored * sizeof(T));
  constexpr int64_t pairWords = blockTiles / lineTiles;
  int64_t tileRows = strip.tileRows();
  __m128i bytes[blockTiles / 2];
  for (int64_t begin = 0; begin < tileRows; begin += lineTiles) {
    int64_t count = std::min(lineTiles, tileRows - begin);
    __m512i words[blockTiles];
    for (int64_t i = 0; i < lineTiles; ++i) {
      __m512i first = _mm512_setzero_si512(), second = first;
      __m128i nibbles = _mm_setzero_si128();
      if (i < count) {
        KeptBits kept;
        for (int64_t row = 0; row < tileSide; ++row)
          kept.element[row] = extractRow(strip.choices[begin + i], row);
        KeptBits stored = kept.store();
        selectStored(strip.input + (begin + i) * tileSide * strip.inputStride,
                     strip.inputStride, kept, stored, first, second);
        nibbles = getNibbles(stored);
      }
      if constexpr (pairWords == 1) {
        words[i] = _mm512_or_si512(first, _mm512_slli_epi32(second, 16));
      } else {
        words[2 * i] = first;
        words[2 * i + 1] = second;
      }
      __m128i &pair = bytes[(begin + i) / 2];
      pair =
          i % 2 == 0 ? nibbles : _mm_or_si128(pair, _mm_slli_epi16(nibbles, 4));
    }
    transpose16x16(words);
    storeColumns(reinterpret_cast<char *>(strip.values + groupStored * begin),
                 strip.valueStride * sizeof(T), words, strip.columns,
                 count * groupStored * sizeof(T), strip.isStreamed);
  }
  if (!strip.coordinates)
    return;
  alignas(16) uint8_t table[blockTiles / 2][stripColumns];
  int64_t numBytes = tileRows / 2;
  for (int64_t i = 0; i < numBytes; ++i)
    _mm_store_si128(reinterpret_cast<__m128i *>(table[i]), bytes[i]);
  for (int64_t column = 0; column < strip.columns; ++column) {
    uint8_t *to = strip.coordinates + column * strip.coordinateStride;
    uint8_t line[blockTiles / 2];
    for (int64_t i = 0; i < blockTiles / 2; ++i)
      line[i] = table[i][column];
    if (numBytes == blockTiles / 2)
      std::memcpy(to, line, sizeof(line));
    else
      std::memcpy(to, line, numBytes);
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
#endif

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The choices of up to 16 tiles from `tile` on, four a word; those that there
/// are not keep nothing.
static void loadChoices(const uint16_t *choices, int64_t tile, int64_t end,
                        uint64_t words[blockTiles / stripTiles]) {
  std::memset(words, 0, blockTiles / stripTiles * sizeof(uint64_t));
  std::memcpy(words, choices + tile,
              std::min(blockTiles, end - tile) * sizeof(uint16_t));
}

/// Stores up to 16 groups of a row from `column` on.
template <typename T>
static void packRow(const Packing &packing, int64_t row, int64_t column,
                    const T *input, uint64_t kept) {
  const Destination &to = packing.byRows;
  int64_t count = std::min(blockExtent, packing.columns - column);
  int64_t group = row * to.groups + column / groupExtent;
  packGroups(static_cast<T *>(to.values) + groupStored * group, input, count,
             kept);
  if (to.hasWholeBytes()) {
    uint64_t nibbles = joinGroups(getCoordinateBits(splitGroups(kept).store()));
    std::memcpy(to.coordinates + group / 2, &nibbles, (count + 7) / 8);
  }
}

/// Stores columns `begin` to `end` of row `row` of a matrix.
template <typename T>
static void packPartOfRow(const Packing &packing, int64_t matrix, int64_t row,
                          int64_t begin, int64_t end) {
#if defined(__x86_64__)
  if (hasCompression())
    begin = packRows512<T>(packing, matrix, row, begin, end);
#endif
  int64_t number = matrix * packing.rows + row;
  const T *input =
      static_cast<const T *>(packing.input) + number * packing.columns;
  for (; begin < end; begin += blockExtent) {
    uint64_t words[blockTiles / stripTiles], kept = 0;
    loadChoices(packing.getChoices(matrix, row / tileSide), begin / tileSide,
                packing.tileColumns(), words);
    for (int64_t word = 0; word < blockTiles / stripTiles; ++word)
      kept |= getRowOfTiles(words[word], row % tileSide)
              << (stripColumns * word);
    packRow(packing, number, begin, input + begin, kept);
  }
}

/// Stores up to 16 columns from `column` on of up to 16 rows of tiles.
template <typename T>
static void packPartOfColumns(const Packing &packing, int64_t matrix,
                              int64_t tileRow, int64_t column) {
  const Destination &to = packing.byColumns;
  int64_t row = tileRow * tileSide;
  Strip<T> strip;
  strip.input = static_cast<const T *>(packing.input) +
                (matrix * packing.rows + row) * packing.columns + column;
  strip.inputStride = packing.columns;
  strip.rows = std::min(blockExtent, packing.rows - row);
  strip.columns = std::min(stripColumns, packing.columns - column);
  int64_t tile = column / tileSide;
  int64_t bytes = std::min(stripTiles, packing.tileColumns() - tile) *
                  static_cast<int64_t>(sizeof(uint16_t));
  for (int64_t i = 0; i < strip.tileRows(); ++i) {
    strip.choices[i] = 0;
    const uint16_t *choices = packing.getChoices(matrix, tileRow + i) + tile;
    if (bytes == sizeof(uint64_t))
      std::memcpy(&strip.choices[i], choices, sizeof(uint64_t));
    else
      std::memcpy(&strip.choices[i], choices, bytes);
  }
  int64_t group = (matrix * packing.columns + column) * to.groups + tileRow;
  strip.values = static_cast<T *>(to.values) + groupStored * group;
  strip.valueStride = groupStored * to.groups;
  strip.coordinates = to.hasWholeBytes() ? to.coordinates + group / 2 : nullptr;
  strip.coordinateStride = to.groups / 2;
  strip.isStreamed = to.isStreamed;
#if defined(__x86_64__)
  if constexpr (sizeof(T) <= 4)
    if (hasCompression())
      return packStrip512(strip);
#endif
  packStrip(strip);
}

/// Brings lines of columns `begin` to `end` of a row to the core's cache, in
/// the order in which they lie there.
template <typename T>
static void prefetchRow(const Packing &packing, int64_t row, int64_t begin,
                        int64_t end) {
  const T *input =
      static_cast<const T *>(packing.input) + row * packing.columns;
  for (; begin < end; begin += 64 / static_cast<int64_t>(sizeof(T)))
    __builtin_prefetch(input + begin, 0, 2);
}

template <typename T>
static void packBlock(const Packing &packing, int64_t matrix, int64_t tileRow,
                      int64_t begin, int64_t end) {
  int64_t firstRow = tileRow * tileSide;
  int64_t endRow = std::min(firstRow + blockExtent, packing.rows);
  for (int64_t row = firstRow; row < endRow; ++row)
    if (packing.byRows.values)
      packPartOfRow<T>(packing, matrix, row, begin, end);
    else
      prefetchRow<T>(packing, matrix * packing.rows + row, begin, end);
  for (int64_t column = begin; packing.byColumns.values && column < end;
       column += stripColumns)
    packPartOfColumns<T>(packing, matrix, tileRow, column);
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
  unsigned shift = line % tileSide;
  if (!isByColumns)
    return choice >> (tileSide * shift) & 0xF;
  choice = choice >> shift & 0x1111;
  return (choice | choice >> 3 | choice >> 6 | choice >> 9) & 0xF;
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

template <typename T>
static void packMatrices(const Packing &packing) {
  int64_t blocks = (packing.tileRows() + blockTiles - 1) / blockTiles;
  sparseAutogradParallelFor(
      packing.matrices * blocks, 1,
      [](void *opaque, int64_t begin, int64_t end) {
        const auto &packing = *static_cast<const Packing *>(opaque);
        int64_t blocks = (packing.tileRows() + blockTiles - 1) / blockTiles;
        // By rows alone, whole rows are read one after the other.
        int64_t width =
            packing.byColumns.values ? blockColumns : packing.columns;
        for (int64_t block = begin; block < end; ++block)
          for (int64_t column = 0; column < packing.columns; column += width)
            packBlock<T>(packing, block / blocks, block % blocks * blockTiles,
                         column, std::min(column + width, packing.columns));
      },
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
/// As packRows512, of what is not zero.
template <typename T>
SPARSE_AUTOGRAD_AVX512 static int64_t
packNonzeros512(const Packing &packing, int64_t level, int64_t row) {
  const T *input =
      static_cast<const T *>(packing.input) + row * packing.columns;
  int64_t column = 0;
  for (; column + blockExtent <= packing.columns; column += blockExtent) {
    uint64_t kept = findWhole(input + column);
    if (uint64_t three = splitGroups(kept).hasThree())
      raiseTooMany(level, row, column, three);
    packRow512(packing.byRows,
               row * packing.byRows.groups + column / groupExtent,
               input + column, kept);
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
               column += blockExtent) {
            const T *input = static_cast<const T *>(packing.input) +
                             row * packing.columns + column;
            int64_t count = std::min(blockExtent, packing.columns - column);
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

static Destination describe(void *values, uint8_t *coordinates, int64_t extent,
                            int64_t lines, int64_t elementBytes) {
  int64_t groups = (extent + groupExtent - 1) / groupExtent;
  return {values, coordinates, groups,
          isPastCaches(lines * groups * groupStored * elementBytes)};
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
  packing.byRows =
      describe(values, coordinates, columns, matrices * rows, elementBytes);
  packing.byColumns = describe(transposedValues, transposedCoordinates, rows,
                               matrices * columns, elementBytes);
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
  all.packing.byRows =
      describe(values, coordinates, columns, rows, elementBytes);
  dispatch(elementBytes, [&](auto *type) {
    packNonzeros<std::remove_pointer_t<decltype(type)>>(all);
  });
}
