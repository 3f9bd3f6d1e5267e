//===- Stream.cpp - write past the caches ---------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stream.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseAutograd/Target/CPUInfo.h"

#include <cstring>

#ifdef __SSE2__
#include <immintrin.h>
#endif

using namespace sparse_autograd::runtime;

/// What does not fit beside what else is in the caches of a core. Less is read
/// from there again.
static constexpr int64_t minimalTotal =
    sparse_autograd::genericCPU.sharedCacheBytes;

#ifdef __SSE2__
static constexpr int64_t lineBytes = sparse_autograd::genericCPU.lineBytes;

static void streamLines(char *to, const char *from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += lineBytes)
    for (int64_t word = at; word < at + lineBytes; word += 16)
      _mm_stream_si128(
          reinterpret_cast<__m128i *>(to + word),
          _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + word)));
}

/// A line by one store is on its way at once.
__attribute__((target("avx512f"))) static void
streamWholeLines(char *to, const char *from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += lineBytes)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to + at),
                        _mm512_loadu_si512(from + at));
}
#endif

bool sparse_autograd::runtime::isPastCaches(int64_t total) {
  return total >= minimalTotal;
}

void sparse_autograd::runtime::streamBytes(void *destination,
                                           const void *source, int64_t bytes) {
#ifdef __SSE2__
  if (bytes >= 4 * lineBytes) {
    static const bool hasWholeLines = __builtin_cpu_supports("avx512f");
    auto *to = static_cast<char *>(destination);
    const auto *from = static_cast<const char *>(source);
    // Up to where a line begins, whole lines, the rest.
    int64_t head = -reinterpret_cast<uintptr_t>(to) & (lineBytes - 1);
    int64_t body = (bytes - head) / lineBytes * lineBytes;
    std::memcpy(to, from, head);
    if (hasWholeLines)
      streamWholeLines(to + head, from + head, body);
    else
      streamLines(to + head, from + head, body);
    std::memcpy(to + head + body, from + head + body, bytes - head - body);
    return;
  }
#endif
  std::memcpy(destination, source, bytes);
}

void sparseAutogradStream(void *destination, const void *source, int64_t bytes,
                          int64_t total) {
  if (isPastCaches(total))
    streamBytes(destination, source, bytes);
  else
    std::memcpy(destination, source, bytes);
}

void sparse_autograd::runtime::finishStreams() {
#ifdef __SSE2__
  // Not after each piece: it waits until all of it is in memory.
  _mm_sfence();
#endif
}
