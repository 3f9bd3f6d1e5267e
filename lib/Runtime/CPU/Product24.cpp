//===- Product24.cpp - products with a 2:4 matrix -------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C += W B, where each group of four along a row of W stores two. 16 values of
// a row are those of 8 groups, 32 terms: the 32 elements of a column of B that
// belong to them are in two registers of AVX-512, from which one permutation
// takes the 16 that W stores values for. The metadata of 8 groups are a word of
// 32 bits, and two instructions make the permutation of it. B is copied once,
// by columns; tiles of four rows of W and four columns of B have their sums in
// registers, and a panel of rows of W stays in the core's cache for all
// columns.
//
// Where the model of Product24Cost.h, or who calls, says that dense is faster,
// a panel of W is expanded and is a dense product. Where who calls says that
// stored values are to be multiplied, and there is no AVX-512 or W is
// transposed, each adds a row of B to one of C.
//
//===----------------------------------------------------------------------===//

#include "Groups24.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "SparseAutograd/Target/Product24Cost.h"
#include "Vectors512.h"

#include <algorithm>
#include <cstring>

using namespace sparse_autograd;
using namespace sparse_autograd::runtime;

namespace {

/// Rows of a tile and of a panel of W, and columns of a tile.
constexpr int64_t rowsAtOnce = 4, columnsAtOnce = 4, panelRows = 64;
/// Terms, groups and values that one permutation is for.
constexpr int64_t stepTerms = 32, stepGroups = stepTerms / groupExtent,
                  stepValues = stepGroups * groupStored;

/// An element of bf16, by its bits.
struct BFloat16 {
  uint16_t bits;
};

/// An element of f16, by its bits.
struct Float16 {
  uint16_t bits;
};

} // namespace

static float widen(float value) { return value; }
static float widen(Float16 value) {
  uint32_t sign = uint32_t(value.bits & 0x8000) << 16;
  uint32_t magnitude = value.bits & 0x7FFF;
  // The exponent moves by 127 - 15, that of infinities and NaNs to the largest;
  // subnormal numbers are units of 2^-24.
  uint32_t bits = sign | ((magnitude << 13) + (112u << 23));
  if (magnitude >= 0x7C00)
    bits += 112u << 23;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  if (magnitude < 0x0400)
    result = (sign ? -1.0f : 1.0f) * static_cast<float>(magnitude) *
             (1.0f / (1 << 24));
  return result;
}
static float widen(BFloat16 value) {
  uint32_t bits = uint32_t(value.bits) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

namespace {

/// W of `rows` x `terms` elements, B of `terms` x `columns`, and C.
template <typename T>
struct Product {
  int64_t rows, columns, terms;
  const T *values;
  const uint8_t *coordinates;
  const float *b;
  int64_t bRowStride, bColumnStride;
  float *c;
  int64_t cRowStride, cColumnStride;
  /// B by columns, each of `steps` times 32 terms, zeros after the last.
  float *copy;

  int64_t groups() const { return (terms + groupExtent - 1) / groupExtent; }
  int64_t steps() const { return (groups() + stepGroups - 1) / stepGroups; }
  unsigned getNibble(int64_t group) const {
    return coordinates[group / 2] >> (group % 2 * 4) & 0xF;
  }
};

} // namespace

/// The metadata of a panel of rows, each from a word on.
template <typename T>
static void copyWords(const Product<T> &product, int64_t firstRow, int64_t rows,
                      uint32_t *words) {
  int64_t groups = product.groups(), steps = product.steps();
  for (int64_t row = 0; row < rows; ++row) {
    int64_t group = (firstRow + row) * groups;
    uint32_t *to = words + row * steps;
    if (group % 2 == 0) {
      to[steps - 1] = 0;
      std::memcpy(to, product.coordinates + group / 2, (groups + 1) / 2);
      continue;
    }
    std::memset(to, 0, steps * sizeof(uint32_t));
    for (int64_t i = 0; i < groups; ++i)
      to[i / stepGroups] |= product.getNibble(group + i)
                            << (i % stepGroups * 4);
  }
}

//===----------------------------------------------------------------------===//
// AVX-512
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
#define SPARSE_AUTOGRAD_AVX512                                                 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

static bool hasPermutations() {
  static const bool has =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has;
}

SPARSE_AUTOGRAD_AVX512 static __m512 loadValues(const float *values,
                                                __mmask16 mask) {
  return _mm512_maskz_loadu_ps(mask, values);
}

SPARSE_AUTOGRAD_AVX512 static __m512 loadValues(const BFloat16 *values,
                                                __mmask16 mask) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(
      _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, values)), 16));
}

SPARSE_AUTOGRAD_AVX512 static __m512 loadValues(const Float16 *values,
                                                __mmask16 mask) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, values));
}

namespace {
/// The rows of W that a tile multiplies: their values, and their metadata as
/// words of eight groups.
template <typename T>
struct TileRows {
  const T *values[rowsAtOnce];
  const uint32_t *words[rowsAtOnce];
};
} // namespace

/// Adds the products of R rows with C columns of the copy of B to `sums`.
template <int R, int C, typename T>
SPARSE_AUTOGRAD_AVX512 static void
multiplyTile(const TileRows<T> &rows, const float *columns, int64_t stride,
             int64_t steps, int64_t lastValues,
             float sums[rowsAtOnce][columnsAtOnce]) {
  const __m512i shifts = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18,
                                           20, 22, 24, 26, 28, 30);
  const __m512i begins = _mm512_setr_epi32(0, 0, 4, 4, 8, 8, 12, 12, 16, 16, 20,
                                           20, 24, 24, 28, 28);
  const __m512i coordinate = _mm512_set1_epi32(3);
  __m512 total[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c)
      total[r][c] = _mm512_setzero_ps();
  for (int64_t step = 0; step < steps; ++step) {
    __mmask16 mask = step + 1 == steps
                         ? static_cast<__mmask16>((1u << lastValues) - 1)
                         : static_cast<__mmask16>(0xFFFF);
    __m512 values[R];
    __m512i places[R];
    for (int r = 0; r < R; ++r) {
      values[r] = loadValues(rows.values[r] + stepValues * step, mask);
      __m512i word = _mm512_set1_epi32(static_cast<int>(rows.words[r][step]));
      // (word >> shifts & 3) | begins
      places[r] = _mm512_ternarylogic_epi32(_mm512_srlv_epi32(word, shifts),
                                            coordinate, begins, 0xEA);
    }
    for (int c = 0; c < C; ++c) {
      const float *terms = columns + c * stride + stepTerms * step;
      __m512 low = _mm512_loadu_ps(terms);
      __m512 high = _mm512_loadu_ps(terms + 16);
      for (int r = 0; r < R; ++r)
        total[r][c] = _mm512_fmadd_ps(
            values[r], _mm512_permutex2var_ps(low, places[r], high),
            total[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c)
      sums[r][c] = _mm512_reduce_add_ps(total[r][c]);
}

template <int R, typename T>
SPARSE_AUTOGRAD_AVX512 static void
multiplyColumns(int64_t count, const TileRows<T> &rows, const float *columns,
                int64_t stride, int64_t steps, int64_t lastValues,
                float sums[rowsAtOnce][columnsAtOnce]) {
  switch (count) {
  case 1:
    return multiplyTile<R, 1>(rows, columns, stride, steps, lastValues, sums);
  case 2:
    return multiplyTile<R, 2>(rows, columns, stride, steps, lastValues, sums);
  case 3:
    return multiplyTile<R, 3>(rows, columns, stride, steps, lastValues, sums);
  default:
    return multiplyTile<R, 4>(rows, columns, stride, steps, lastValues, sums);
  }
}

/// Multiplies panels of 64 rows.
template <typename T>
static void multiplyPanels(void *opaque, int64_t begin, int64_t end) {
  const auto &product = *static_cast<const Product<T> *>(opaque);
  int64_t groups = product.groups(), steps = product.steps();
  int64_t lastValues = groupStored * (groups - (steps - 1) * stepGroups);
  int64_t stride = steps * stepTerms;
  // Rows whose metadata are whole words are read where they are.
  bool isWhole = groups % stepGroups == 0 &&
                 reinterpret_cast<uintptr_t>(product.coordinates) % 4 == 0;
  uint32_t *copied = nullptr;
  if (!isWhole)
    copied = static_cast<uint32_t *>(sparseAutogradAllocate(
        panelRows * steps * static_cast<int64_t>(sizeof(uint32_t))));
  for (int64_t panel = begin; panel < end; ++panel) {
    int64_t first = panel * panelRows;
    int64_t rows = std::min(panelRows, product.rows - first);
    const uint32_t *words = copied;
    if (isWhole)
      words = reinterpret_cast<const uint32_t *>(product.coordinates +
                                                 first * groups / 2);
    else
      copyWords(product, first, rows, copied);
    for (int64_t column = 0; column < product.columns;
         column += columnsAtOnce) {
      int64_t columns = std::min(columnsAtOnce, product.columns - column);
      const float *b = product.copy + column * stride;
      for (int64_t row = 0; row < rows; row += rowsAtOnce) {
        int64_t count = std::min(rowsAtOnce, rows - row);
        TileRows<T> tile;
        for (int64_t r = 0; r < count; ++r) {
          tile.values[r] =
              product.values + (first + row + r) * groups * groupStored;
          tile.words[r] = words + (row + r) * steps;
        }
        float sums[rowsAtOnce][columnsAtOnce];
        if (count == rowsAtOnce) {
          multiplyColumns<rowsAtOnce>(columns, tile, b, stride, steps,
                                      lastValues, sums);
        } else {
          for (int64_t r = 0; r < count; ++r) {
            TileRows<T> single;
            single.values[0] = tile.values[r];
            single.words[0] = tile.words[r];
            multiplyColumns<1>(columns, single, b, stride, steps, lastValues,
                               sums + r);
          }
        }
        float *c = product.c + (first + row) * product.cRowStride +
                   column * product.cColumnStride;
        for (int64_t r = 0; r < count; ++r)
          for (int64_t i = 0; i < columns; ++i)
            c[r * product.cRowStride + i * product.cColumnStride] += sums[r][i];
      }
    }
  }
  sparseAutogradDeallocate(copied);
}

/// 16 columns of 16 terms of B, of consecutive columns in memory.
SPARSE_AUTOGRAD_AVX512 static void transposeTerms(const float *from,
                                                  int64_t fromStride, float *to,
                                                  int64_t toStride) {
  __m512i rows[16];
  for (int64_t i = 0; i < 16; ++i)
    rows[i] = _mm512_loadu_si512(from + i * fromStride);
  transpose16x16(rows);
  for (int64_t i = 0; i < 16; ++i)
    _mm512_storeu_si512(to + i * toStride, rows[i]);
}
#else
static bool hasPermutations() { return false; }
template <typename T>
static void multiplyPanels(void *, int64_t, int64_t) {}
static void transposeTerms(const float *from, int64_t fromStride, float *to,
                           int64_t toStride) {
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j)
      to[j * toStride + i] = from[i * fromStride + j];
}
#endif

/// Copies columns of B, in parts of 16.
template <typename T>
static void copyColumns(void *opaque, int64_t begin, int64_t end) {
  const auto &product = *static_cast<const Product<T> *>(opaque);
  int64_t stride = product.steps() * stepTerms, terms = product.terms;
  for (int64_t part = begin; part < end; ++part) {
    int64_t column = 16 * part;
    int64_t count = std::min<int64_t>(16, product.columns - column);
    float *to = product.copy + column * stride;
    const float *from = product.b + column * product.bColumnStride;
    int64_t done = 0;
    if (product.bColumnStride == 1 && count == 16)
      for (; done + 16 <= terms; done += 16)
        transposeTerms(from + done * product.bRowStride, product.bRowStride,
                       to + done, stride);
    for (int64_t i = 0; i < count; ++i, to += stride) {
      const float *of = from + i * product.bColumnStride;
      if (product.bRowStride == 1)
        std::memcpy(to, of, terms * sizeof(float));
      else
        for (int64_t k = done; k < terms; ++k)
          to[k] = of[k * product.bRowStride];
      std::memset(to + terms, 0, (stride - terms) * sizeof(float));
    }
  }
}

template <typename T>
static void multiplyStored(Product<T> &product) {
  product.copy = static_cast<float *>(
      sparseAutogradAllocate(product.columns * product.steps() * stepTerms *
                             static_cast<int64_t>(sizeof(float))));
  sparseAutogradParallelFor((product.columns + 15) / 16, 4, copyColumns<T>,
                            &product);
  sparseAutogradParallelFor((product.rows + panelRows - 1) / panelRows, 1,
                            multiplyPanels<T>, &product);
  sparseAutogradDeallocate(product.copy);
}

//===----------------------------------------------------------------------===//
// Dense
//===----------------------------------------------------------------------===//

namespace {
template <typename T>
struct Expansion {
  const Product<T> *product;
  int64_t firstRow;
  float *dense;
};
} // namespace

#if defined(__x86_64__)
namespace {
/// For two groups, by their byte of metadata, the elements that they store.
struct StoredElements {
  uint8_t bits[256] = {};

  constexpr StoredElements() {
    for (unsigned byte = 0; byte < 256; ++byte)
      bits[byte] = 1u << (byte & 3) | 1u << (byte >> 2 & 3) |
                   1u << (4 + (byte >> 4 & 3)) | 1u << (4 + (byte >> 6));
  }
};
} // namespace

static constexpr StoredElements storedElements;

/// Expands the whole steps of a row, whose metadata are words; returns their
/// terms.
template <typename T>
SPARSE_AUTOGRAD_AVX512 static int64_t
expandSteps(const T *values, const uint32_t *words, int64_t terms, float *to) {
  int64_t term = 0;
  for (; term + stepTerms <= terms;
       term += stepTerms, values += stepValues, ++words) {
    uint32_t isStored = 0;
    for (int byte = 0; byte < 4; ++byte)
      isStored |= static_cast<uint32_t>(
                      storedElements.bits[*words >> (8 * byte) & 0xFF])
                  << (8 * byte);
    __m512 stored = loadValues(values, 0xFFFF);
    __m512 second = _mm512_shuffle_f32x4(stored, stored, 0xEE);
    _mm512_storeu_ps(to + term, _mm512_maskz_expand_ps(
                                    static_cast<__mmask16>(isStored), stored));
    _mm512_storeu_ps(
        to + term + 16,
        _mm512_maskz_expand_ps(static_cast<__mmask16>(isStored >> 16), second));
  }
  return term;
}
#else
template <typename T>
static int64_t expandSteps(const T *, const uint32_t *, int64_t, float *) {
  return 0;
}
#endif

template <typename T>
static void expandRows(void *opaque, int64_t begin, int64_t end) {
  const auto &env = *static_cast<const Expansion<T> *>(opaque);
  const Product<T> &product = *env.product;
  int64_t groups = product.groups();
  auto *words = static_cast<uint32_t *>(sparseAutogradAllocate(
      product.steps() * static_cast<int64_t>(sizeof(uint32_t))));
  for (int64_t row = begin; row < end; ++row) {
    float *to = env.dense + row * product.terms;
    int64_t first = (env.firstRow + row) * groups, done = 0;
    if (hasPermutations()) {
      copyWords(product, env.firstRow + row, 1, words);
      done = expandSteps(product.values + groupStored * first, words,
                         product.terms, to);
    }
    std::memset(to + done, 0, (product.terms - done) * sizeof(float));
    for (int64_t i = done / groupExtent; i < groups; ++i) {
      unsigned nibble = product.getNibble(first + i);
      for (int64_t slot = 0; slot < groupStored; ++slot) {
        int64_t term = groupExtent * i + (nibble >> (2 * slot) & 3);
        if (term < product.terms)
          to[term] = widen(product.values[groupStored * (first + i) + slot]);
      }
    }
  }
  sparseAutogradDeallocate(words);
}

/// Rows of W that are expanded at a time: as many as fit the shared cache.
static int64_t countDenseRows(int64_t rows, int64_t terms) {
  int64_t fitting = genericCPU.sharedCacheBytes / 4 /
                    (terms * static_cast<int64_t>(sizeof(float)));
  return std::clamp<int64_t>(fitting, 1, rows);
}

template <typename T>
static void multiplyExpanded(const Product<T> &product, bool isTransposed) {
  int64_t rows = countDenseRows(product.rows, product.terms);
  Expansion<T> expansion = {
      &product, 0,
      static_cast<float *>(sparseAutogradAllocate(
          rows * product.terms * static_cast<int64_t>(sizeof(float))))};
  for (int64_t first = 0; first < product.rows; first += rows) {
    int64_t count = std::min(rows, product.rows - first);
    expansion.firstRow = first;
    sparseAutogradParallelFor(count, 16, expandRows<T>, &expansion);
    if (isTransposed)
      sparseAutogradGemmF32(
          product.terms, product.columns, count, 1.0f, expansion.dense, 1,
          product.terms, product.b + first * product.bRowStride,
          product.bRowStride, product.bColumnStride, 1.0f, product.c,
          product.cRowStride, product.cColumnStride);
    else
      sparseAutogradGemmF32(count, product.columns, product.terms, 1.0f,
                            expansion.dense, product.terms, 1, product.b,
                            product.bRowStride, product.bColumnStride, 1.0f,
                            product.c + first * product.cRowStride,
                            product.cRowStride, product.cColumnStride);
  }
  sparseAutogradDeallocate(expansion.dense);
}

//===----------------------------------------------------------------------===//
// Value by value
//===----------------------------------------------------------------------===//

namespace {
template <typename T>
struct Scatter {
  const Product<T> *product;
  bool isTransposed;
};
} // namespace

/// Adds a row of B, times a stored value, to a row of C, for columns `begin` to
/// `end` of both.
template <typename T>
static void multiplyValues(void *opaque, int64_t begin, int64_t end) {
  const auto &env = *static_cast<const Scatter<T> *>(opaque);
  const Product<T> &product = *env.product;
  int64_t groups = product.groups();
  for (int64_t number = 0; number < product.rows * groups; ++number) {
    unsigned nibble = product.getNibble(number);
    for (int64_t slot = 0; slot < groupStored; ++slot) {
      int64_t row = number / groups;
      int64_t term =
          groupExtent * (number % groups) + (nibble >> (2 * slot) & 3);
      if (term >= product.terms)
        continue;
      if (env.isTransposed)
        std::swap(row, term);
      float value = widen(product.values[groupStored * number + slot]);
      const float *b = product.b + term * product.bRowStride;
      float *c = product.c + row * product.cRowStride;
      for (int64_t column = begin; column < end; ++column)
        c[column * product.cColumnStride] +=
            value * b[column * product.bColumnStride];
    }
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

template <typename T>
static void multiply(Product<T> of, bool isTransposed, int64_t strategy) {
  bool isSparse =
      strategy == SPARSE_AUTOGRAD_PRODUCT24_SPARSE ||
      (strategy == SPARSE_AUTOGRAD_PRODUCT24_FASTEST && hasPermutations() &&
       isSparseFaster(
           estimateProduct24(of.rows, of.columns, of.terms, sizeof(T))));
  if (isSparse && !isTransposed && hasPermutations()) {
    multiplyStored(of);
  } else if (strategy == SPARSE_AUTOGRAD_PRODUCT24_SPARSE) {
    Scatter<T> scatter = {&of, isTransposed};
    sparseAutogradParallelFor(of.columns, 16, multiplyValues<T>, &scatter);
  } else {
    multiplyExpanded(of, isTransposed);
  }
}

void sparseAutogradMultiply24(int64_t element, int64_t m, int64_t n, int64_t k,
                              const void *values, const uint8_t *coordinates,
                              int64_t isTransposed, const float *b,
                              int64_t bRowStride, int64_t bColumnStride,
                              float *c, int64_t cRowStride,
                              int64_t cColumnStride, int64_t strategy) {
  if (m == 0 || n == 0 || k == 0)
    return;
  auto multiplyAs = [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    multiply<T>({m, n, k, static_cast<const T *>(values), coordinates, b,
                 bRowStride, bColumnStride, c, cRowStride, cColumnStride,
                 /*copy=*/nullptr},
                isTransposed != 0, strategy);
  };
  switch (element) {
  case SPARSE_AUTOGRAD_PRODUCT24_BF16:
    return multiplyAs(static_cast<BFloat16 *>(nullptr));
  case SPARSE_AUTOGRAD_PRODUCT24_F16:
    return multiplyAs(static_cast<Float16 *>(nullptr));
  default:
    return multiplyAs(static_cast<float *>(nullptr));
  }
}
