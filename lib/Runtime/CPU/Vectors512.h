//===- Vectors512.h - Transposition in AVX-512 registers --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What packing and products of 2:4 tensors share. Internal to the runtime;
// callers have asked whether the processor has AVX-512.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_VECTORS512_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_VECTORS512_H

#if defined(__x86_64__)
#include <immintrin.h>

namespace sparse_autograd {
namespace runtime {

/// Transposes a matrix of 16 x 16 elements of 32 bits, a row in each register.
__attribute__((target("avx512f"), always_inline)) static inline void
transpose16x16(__m512i rows[16]) {
  __m512i pairs[16], quads[16];
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  // quads[4 g + j] has column 4 b + j of rows 4 g to 4 g + 3 in block b.
  for (int i = 0; i < 16; i += 4) {
    quads[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    quads[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    quads[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  for (int j = 0; j < 4; ++j) {
    __m512i even01 = _mm512_shuffle_i32x4(quads[j], quads[4 + j], 0x88);
    __m512i odd01 = _mm512_shuffle_i32x4(quads[j], quads[4 + j], 0xdd);
    __m512i even23 = _mm512_shuffle_i32x4(quads[8 + j], quads[12 + j], 0x88);
    __m512i odd23 = _mm512_shuffle_i32x4(quads[8 + j], quads[12 + j], 0xdd);
    rows[j] = _mm512_shuffle_i32x4(even01, even23, 0x88);
    rows[4 + j] = _mm512_shuffle_i32x4(odd01, odd23, 0x88);
    rows[8 + j] = _mm512_shuffle_i32x4(even01, even23, 0xdd);
    rows[12 + j] = _mm512_shuffle_i32x4(odd01, odd23, 0xdd);
  }
}

/// Transposes a matrix of 8 x 8 elements of 64 bits, a row in each register.
__attribute__((target("avx512f"), always_inline)) static inline void
transpose8x8(__m512i rows[8]) {
  __m512i pairs[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm512_unpacklo_epi64(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi64(rows[i], rows[i + 1]);
  }
  // pairs[2 g + j] has column 2 b + j of rows 2 g and 2 g + 1 in block b.
  for (int j = 0; j < 2; ++j) {
    __m512i even0 = _mm512_shuffle_i64x2(pairs[j], pairs[2 + j], 0x88);
    __m512i odd0 = _mm512_shuffle_i64x2(pairs[j], pairs[2 + j], 0xdd);
    __m512i even1 = _mm512_shuffle_i64x2(pairs[4 + j], pairs[6 + j], 0x88);
    __m512i odd1 = _mm512_shuffle_i64x2(pairs[4 + j], pairs[6 + j], 0xdd);
    rows[j] = _mm512_shuffle_i64x2(even0, even1, 0x88);
    rows[2 + j] = _mm512_shuffle_i64x2(odd0, odd1, 0x88);
    rows[4 + j] = _mm512_shuffle_i64x2(even0, even1, 0xdd);
    rows[6 + j] = _mm512_shuffle_i64x2(odd0, odd1, 0xdd);
  }
}

} // namespace runtime
} // namespace sparse_autograd
#endif

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_VECTORS512_H
