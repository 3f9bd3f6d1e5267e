//===- MaskedRows.cpp - rows without what a mask leaves out ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector of a row is read or written as a whole although fewer of its
// elements count: the k-th selected element is never before the k-th of the
// row, so that this stays within the row's extent. The permutations for eight
// elements are in a table, as in D. Lemire, "Removing duplicates from lists
// quickly" (2017), and the others are instructions of AVX-512.
//
//===----------------------------------------------------------------------===//

#include "MaskedRows.h"
#include "DispatchElements.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "Stream.h"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace sparse_autograd::runtime;

//===----------------------------------------------------------------------===//
// Any processor
//===----------------------------------------------------------------------===//

template <typename T>
static const T *expandElements(T *destination, const T *source,
                               const uint8_t *mask, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    destination[i] = mask[i] ? *source : T(0);
    source += mask[i] != 0;
  }
  return source;
}

template <typename T>
static T *compressElements(T *destination, const T *source, const uint8_t *mask,
                           int64_t count) {
  // Without a branch: masks are as good as random.
  for (int64_t i = 0; i < count; ++i) {
    *destination = source[i];
    destination += mask[i] != 0;
  }
  return destination;
}

//===----------------------------------------------------------------------===//
// AVX2: eight elements of four bytes
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
namespace {
/// For each eight bits, where the selected of eight elements are (`selected`),
/// and which of the selected ones an element is (`positions`).
struct Permutations {
  std::array<std::array<uint8_t, 8>, 256> selected, positions;
};
} // namespace

static constexpr Permutations makePermutations() {
  Permutations result = {};
  for (unsigned bits = 0; bits < 256; ++bits) {
    uint8_t count = 0;
    for (uint8_t i = 0; i < 8; ++i) {
      result.positions[bits][i] = count;
      if (bits >> i & 1)
        result.selected[bits][count++] = i;
    }
  }
  return result;
}

static constexpr Permutations permutations = makePermutations();

__attribute__((target("avx2"))) static __m256i
loadPermutation(const std::array<uint8_t, 8> &permutation) {
  return _mm256_cvtepu8_epi32(
      _mm_loadl_epi64(reinterpret_cast<const __m128i *>(permutation.data())));
}

/// All bits of those of eight elements of four bytes that are selected.
__attribute__((target("avx2"))) static __m256i loadMask8(const uint8_t *mask) {
  __m256i bytes = _mm256_cvtepu8_epi32(
      _mm_loadl_epi64(reinterpret_cast<const __m128i *>(mask)));
  return _mm256_cmpgt_epi32(bytes, _mm256_setzero_si256());
}

__attribute__((target("avx2,popcnt"))) static uint32_t *
compressAVX2(uint32_t *destination, const uint32_t *source, const uint8_t *mask,
             int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    unsigned bits =
        _mm256_movemask_ps(_mm256_castsi256_ps(loadMask8(mask + i)));
    __m256i values =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(source + i));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i *>(destination),
        _mm256_permutevar8x32_epi32(
            values, loadPermutation(permutations.selected[bits])));
    destination += __builtin_popcount(bits);
  }
  return compressElements(destination, source + i, mask + i, count - i);
}

__attribute__((target("avx2,popcnt"))) static const uint32_t *
expandAVX2(uint32_t *destination, const uint32_t *source, const uint8_t *mask,
           int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256i isSelected = loadMask8(mask + i);
    unsigned bits = _mm256_movemask_ps(_mm256_castsi256_ps(isSelected));
    __m256i values = _mm256_permutevar8x32_epi32(
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(source)),
        loadPermutation(permutations.positions[bits]));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(destination + i),
                        _mm256_and_si256(values, isSelected));
    source += __builtin_popcount(bits);
  }
  return expandElements(destination + i, source, mask + i, count - i);
}

//===----------------------------------------------------------------------===//
// AVX-512: sixteen elements of four bytes, eight of eight
//===----------------------------------------------------------------------===//

#define SPARSE_AUTOGRAD_AVX512                                                 \
  __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))

SPARSE_AUTOGRAD_AVX512 static unsigned loadBits(const uint8_t *mask, uint32_t) {
  __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(mask));
  return _mm_test_epi8_mask(bytes, bytes);
}

SPARSE_AUTOGRAD_AVX512 static unsigned loadBits(const uint8_t *mask, uint64_t) {
  __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(mask));
  return _mm_test_epi8_mask(bytes, bytes);
}

SPARSE_AUTOGRAD_AVX512 static __m512i compress(unsigned bits, __m512i values,
                                               uint32_t) {
  return _mm512_maskz_compress_epi32(bits, values);
}

SPARSE_AUTOGRAD_AVX512 static __m512i compress(unsigned bits, __m512i values,
                                               uint64_t) {
  return _mm512_maskz_compress_epi64(bits, values);
}

SPARSE_AUTOGRAD_AVX512 static __m512i expand(unsigned bits, __m512i values,
                                             uint32_t) {
  return _mm512_maskz_expand_epi32(bits, values);
}

SPARSE_AUTOGRAD_AVX512 static __m512i expand(unsigned bits, __m512i values,
                                             uint64_t) {
  return _mm512_maskz_expand_epi64(bits, values);
}

template <typename T>
SPARSE_AUTOGRAD_AVX512 static T *compressAVX512(T *destination, const T *source,
                                                const uint8_t *mask,
                                                int64_t count) {
  constexpr int64_t lanes = 64 / sizeof(T);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    unsigned bits = loadBits(mask + i, T());
    // In a register: to memory it is a slow instruction on some processors.
    _mm512_storeu_si512(destination,
                        compress(bits, _mm512_loadu_si512(source + i), T()));
    destination += __builtin_popcount(bits);
  }
  return compressElements(destination, source + i, mask + i, count - i);
}

/// With `isStream`, past the caches.
template <bool isStream, typename T>
SPARSE_AUTOGRAD_AVX512 static void expandAVX512(T *destination, const T *source,
                                                const uint8_t *mask,
                                                int64_t count) {
  constexpr int64_t lanes = 64 / sizeof(T);
  int64_t i = 0;
  if (isStream) {
    // Up to where a line begins.
    int64_t head = (-reinterpret_cast<uintptr_t>(destination) & 63) / sizeof(T);
    i = std::min(head, count);
    source = expandElements(destination, source, mask, i);
  }
  for (; i + lanes <= count; i += lanes) {
    unsigned bits = loadBits(mask + i, T());
    __m512i values = expand(bits, _mm512_loadu_si512(source), T());
    if (isStream)
      _mm512_stream_si512(reinterpret_cast<__m512i *>(destination + i), values);
    else
      _mm512_storeu_si512(destination + i, values);
    source += __builtin_popcount(bits);
  }
  expandElements(destination + i, source, mask + i, count - i);
}
#endif

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

VectorInstructions sparse_autograd::runtime::getVectorInstructions() {
#if defined(__x86_64__)
  static const VectorInstructions best =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl")
          ? VectorInstructions::avx512
      : __builtin_cpu_supports("avx2") ? VectorInstructions::avx2
                                       : VectorInstructions::none;
  return best;
#else
  return VectorInstructions::none;
#endif
}

template <typename T>
static T *compressRowOf(VectorInstructions instructions, T *destination,
                        const T *source, const uint8_t *mask, int64_t count) {
#if defined(__x86_64__)
  if (instructions == VectorInstructions::avx512)
    return compressAVX512(destination, source, mask, count);
  if constexpr (sizeof(T) == 4)
    if (instructions == VectorInstructions::avx2)
      return compressAVX2(destination, source, mask, count);
#endif
  return compressElements(destination, source, mask, count);
}

template <typename T>
static void expandRowOf(VectorInstructions instructions, T *destination,
                        const T *source, const uint8_t *mask, int64_t count,
                        bool isLarge) {
#if defined(__x86_64__)
  if (instructions == VectorInstructions::avx512)
    return isLarge ? expandAVX512<true>(destination, source, mask, count)
                   : expandAVX512<false>(destination, source, mask, count);
#endif
  auto expandPart = [&](T *part, const uint8_t *maskOfPart, int64_t length) {
#if defined(__x86_64__)
    if constexpr (sizeof(T) == 4)
      if (instructions == VectorInstructions::avx2)
        return expandAVX2(part, source, maskOfPart, length);
#endif
    return expandElements(part, source, maskOfPart, length);
  };
  if (!isLarge) {
    expandPart(destination, mask, count);
    return;
  }
  // By way of a cache.
  constexpr int64_t pieceLength =
      sparse_autograd::genericCPU.firstCacheBytes / 8 / sizeof(T);
  alignas(64) T piece[pieceLength];
  for (int64_t i = 0; i < count; i += pieceLength) {
    int64_t length = std::min(pieceLength, count - i);
    source = expandPart(piece, mask + i, length);
    streamBytes(destination + i, piece, length * sizeof(T));
  }
}

int64_t sparse_autograd::runtime::compressRow(
    VectorInstructions instructions, void *destination, const void *source,
    const uint8_t *mask, int64_t count, int64_t elementBytes) {
  return dispatchElements<uint32_t, uint64_t>(
      elementBytes, [&](auto *type) -> int64_t {
        using Element = std::remove_pointer_t<decltype(type)>;
        auto *begin = static_cast<Element *>(destination);
        return compressRowOf(instructions, begin,
                             static_cast<const Element *>(source), mask,
                             count) -
               begin;
      });
}

void sparse_autograd::runtime::expandRow(VectorInstructions instructions,
                                         void *destination, const void *source,
                                         const uint8_t *mask, int64_t count,
                                         int64_t elementBytes, bool isLarge) {
  dispatchElements<uint32_t, uint64_t>(elementBytes, [&](auto *type) {
    using Element = std::remove_pointer_t<decltype(type)>;
    expandRowOf(instructions, static_cast<Element *>(destination),
                static_cast<const Element *>(source), mask, count, isLarge);
  });
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

int64_t sparseAutogradEstimateSelected(const uint8_t *mask, int64_t count) {
  constexpr int64_t lineLength = sparse_autograd::genericCPU.lineBytes,
                    lines = 64;
  auto countPart = [&](int64_t begin, int64_t length) {
    return length - std::count(mask + begin, mask + begin + length, 0);
  };
  if (count <= lines * lineLength)
    return countPart(0, count);
  int64_t selected = 0;
  for (int64_t line = 0; line < lines; ++line) {
    // Multiples of the golden ratio: whatever the extents are, they do not fall
    // on the same columns, nor on neighbouring rows.
    double share = line * 0.6180339887498949;
    share -= static_cast<int64_t>(share);
    selected += countPart(static_cast<int64_t>(share * (count - lineLength)),
                          lineLength);
  }
  return static_cast<int64_t>(static_cast<double>(selected) /
                              (lines * lineLength) * count);
}

int64_t sparseAutogradCompressRow(void *destination, const void *source,
                                  const uint8_t *mask, int64_t count,
                                  int64_t elementBytes) {
  return compressRow(getVectorInstructions(), destination, source, mask, count,
                     elementBytes);
}

void sparseAutogradExpandRow(void *destination, const void *source,
                             const uint8_t *mask, int64_t count,
                             int64_t elementBytes, int64_t total) {
  expandRow(getVectorInstructions(), destination, source, mask, count,
            elementBytes, isPastCaches(total));
}
