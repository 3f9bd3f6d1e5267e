//===- ParallelFor.cpp - Loops over fixed chunks ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sparseAutogradParallelFor and the number of threads. OpenMP owns the threads,
// so that a program that uses OpenMP itself has one set of them.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "Stream.h"
#include "ThreadState.h"

#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>

#include <omp.h>

namespace sparse_autograd {
namespace runtime {

static std::atomic<int32_t> requestedThreads{0};
static std::atomic<int64_t> parallelRegions{0};

int64_t parallelRegionCount() {
  return parallelRegions.load(std::memory_order_relaxed);
}

void resetParallelRegionCount() {
  parallelRegions.store(0, std::memory_order_relaxed);
}

namespace {
/// A loop that runs on several threads, and the first of its errors.
struct Loop {
  void (*body)(void *, int64_t, int64_t);
  void *environment;
  int64_t count;
  int64_t grain;
  Frame *frame;

  /// The lowest index of a chunk that failed. A chunk with a lower index is
  /// never skipped, so the value does not depend on the order of execution.
  std::atomic<int64_t> failedChunk{std::numeric_limits<int64_t>::max()};
  std::mutex lock;
  int32_t status = 0;
  char message[messageCapacity] = {};
};

/// One chunk of a loop, as runProtected takes it.
struct Chunk {
  Loop *loop;
  int64_t index;
};
} // namespace

static void runChunk(void *context) {
  Chunk *chunk = static_cast<Chunk *>(context);
  Loop *loop = chunk->loop;
  int64_t begin = chunk->index * loop->grain;
  int64_t rest = loop->count - begin;
  loop->body(loop->environment, begin,
             begin + (rest < loop->grain ? rest : loop->grain));
}

static void recordError(Loop &loop, int64_t chunk) {
  std::lock_guard<std::mutex> guard(loop.lock);
  if (chunk > loop.failedChunk.load(std::memory_order_relaxed))
    return;
  const ThreadState &state = threadState();
  loop.status = state.status;
  std::memcpy(loop.message, state.message, messageCapacity);
  loop.failedChunk.store(chunk, std::memory_order_relaxed);
}

/// Runs the loop and returns true, or false with the error in the state of the
/// calling thread. Apart from the entry, which longjmp leaves, since this
/// function's locals may have destructors.
__attribute__((noinline)) static bool runOnThreads(Loop &loop, int64_t chunks,
                                                   int32_t threads) {
  parallelRegions.fetch_add(1, std::memory_order_relaxed);
#pragma omp parallel num_threads(threads) default(none) shared(loop, chunks)
  {
    ThreadState &state = threadState();
    Frame *savedFrame = state.frame;
    bool savedInside = state.insideParallelFor;
    state.frame = loop.frame;
    state.insideParallelFor = true;
#pragma omp for schedule(dynamic) nowait
    for (int64_t index = 0; index < chunks; ++index) {
      if (index > loop.failedChunk.load(std::memory_order_relaxed))
        continue;
      Chunk chunk = {&loop, index};
      if (!runProtected(runChunk, &chunk))
        recordError(loop, index);
    }
    finishStreams();
    state.frame = savedFrame;
    state.insideParallelFor = savedInside;
  }
  if (loop.failedChunk.load() == std::numeric_limits<int64_t>::max())
    return true;
  setLastError(loop.status, loop.message);
  return false;
}

static bool runLoop(int64_t count, int64_t grain, int64_t chunks,
                    void (*body)(void *, int64_t, int64_t), void *environment,
                    int32_t threads) {
  Loop loop;
  loop.body = body;
  loop.environment = environment;
  loop.count = count;
  loop.grain = grain;
  loop.frame = threadState().frame;
  return runOnThreads(loop, chunks, threads);
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd::runtime;

void sparseAutogradSetThreadCount(int32_t threads) {
  requestedThreads.store(threads < 0 ? 0 : threads, std::memory_order_relaxed);
}

int32_t sparseAutogradGetThreadCount(void) {
  // In a parallel region of the caller's, OpenMP would make a team of one.
  if (omp_get_active_level() >= omp_get_max_active_levels())
    return 1;
  int32_t threads = requestedThreads.load(std::memory_order_relaxed);
  if (threads == 0)
    threads = omp_get_max_threads();
  return threads < 1 ? 1 : threads;
}

void sparseAutogradParallelFor(int64_t count, int64_t grain,
                               void (*body)(void *, int64_t, int64_t),
                               void *environment) {
  if (count < 0 || grain < 1) {
    int64_t values[] = {count, grain};
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_INVALID_ARGUMENT,
        "a parallel loop of {} iterations in chunks of {}", 2, values);
  }
  if (count == 0)
    return;
  int64_t chunks = (count - 1) / grain + 1;
  int32_t threads = 1;
  if (chunks > 1 && !threadState().insideParallelFor)
    threads = sparseAutogradGetThreadCount();
  if (threads > chunks)
    threads = static_cast<int32_t>(chunks);
  if (threads == 1) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      int64_t begin = chunk * grain;
      int64_t rest = count - begin;
      body(environment, begin, begin + (rest < grain ? rest : grain));
    }
    return;
  }
  if (!runLoop(count, grain, chunks, body, environment, threads)) {
    const ThreadState &state = threadState();
    sparseAutogradRaise(state.status, state.message);
  }
}
