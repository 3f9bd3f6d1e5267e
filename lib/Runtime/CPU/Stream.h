//===- Stream.h - Stores past the caches ------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is stored past the caches waits in buffers that no other processor
// sees. Whoever hands the results of compiled code to other threads, a parallel
// loop and the call of an entry, sends it on first.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_STREAM_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_STREAM_H

#include <cstdint>

namespace sparse_autograd {
namespace runtime {

/// Whether a result of `total` bytes is too large for the caches of a core.
bool isPastCaches(int64_t total);

/// Copies `bytes` bytes, which do not overlap, past the caches.
void streamBytes(void *destination, const void *source, int64_t bytes);

/// Others see what the calling thread has streamed no later than what it stores
/// from here on.
void finishStreams();

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_STREAM_H
