//===- Stream.cpp - write past the caches ---------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"

#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// What does not fit beside what else is in the caches of a core. Less is read
/// from there again.
static constexpr int64_t minimalTotal = int64_t(16) << 20;

void sparseAutogradStream(void *destination, const void *source, int64_t bytes,
                          int64_t total) {
#ifdef __SSE2__
  constexpr int64_t line = 64;
  if (total >= minimalTotal && bytes >= 4 * line) {
    auto *to = static_cast<char *>(destination);
    const auto *from = static_cast<const char *>(source);
    // Up to where a line begins, whole lines, the rest.
    int64_t head = -reinterpret_cast<uintptr_t>(to) & (line - 1);
    int64_t body = (bytes - head) / line * line;
    std::memcpy(to, from, head);
    for (int64_t at = head; at < head + body; at += line)
      for (int64_t word = at; word < at + line; word += 16)
        _mm_stream_si128(
            reinterpret_cast<__m128i *>(to + word),
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + word)));
    std::memcpy(to + head + body, from + head + body, bytes - head - body);
    // Others see these stores no later than those that follow.
    _mm_sfence();
    return;
  }
#endif
  std::memcpy(destination, source, bytes);
}
