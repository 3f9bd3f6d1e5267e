//===- Pack24Rows512.h - 2:4 storage by rows in AVX-512 ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is kept is bits (Groups24.h): 16 groups are one number, from which the
// metadata and what to store follow without a branch. Values are compressed in
// registers. Internal to Pack24.cpp, which asks `hasCompression` first.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACK24ROWS512_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACK24ROWS512_H

#include "Packing24.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sparse_autograd {
namespace runtime {
namespace pack24 {

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

/// The bits of 128 columns of a row of tiles, by rows.
struct TileBits {
  static constexpr int64_t tiles = 32, parts = tiles / bitsTiles;
  alignas(64) uint64_t kept[tileSide * parts], stored[tileSide * parts],
      metadata[tileSide * parts];
};

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
inline bool hasCompression() { return false; }
#endif

} // namespace pack24
} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_PACK24ROWS512_H
