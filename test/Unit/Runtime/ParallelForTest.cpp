//===- ParallelForTest.cpp - Loops over fixed chunks ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <omp.h>

TEST(ParallelFor, EveryChunkOnce) {
  for (int32_t threads : {1, 2, 3, 4})
    for (int64_t count : {0, 1, 2, 7, 8, 31, 32, 33, 1000})
      for (int64_t grain : {1, 3, 8, 32, 1000, 5000}) {
        ThreadCount setting(threads);
        std::vector<std::atomic<int>> seen(count);
        std::atomic<int> badChunks{0};
        EXPECT_EQ(runEntry([&] {
                    parallelFor(count, grain, [&](int64_t begin, int64_t end) {
                      if (begin % grain != 0 ||
                          end != std::min(begin + grain, count))
                        ++badChunks;
                      for (int64_t i = begin; i < end; ++i)
                        ++seen[i];
                    });
                  }),
                  SPARSE_AUTOGRAD_SUCCESS);
        EXPECT_EQ(badChunks, 0);
        for (int64_t i = 0; i < count; ++i)
          ASSERT_EQ(seen[i], 1) << threads << " " << count << " " << grain;
      }
}

TEST(ParallelFor, LastChunkOfTheLargestCount) {
  std::atomic<int64_t> last{0};
  runEntry([&] {
    parallelFor(INT64_MAX, INT64_MAX / 2 + 1, [&](int64_t, int64_t end) {
      int64_t seen = last;
      while (seen < end && !last.compare_exchange_weak(seen, end))
        ;
    });
  });
  EXPECT_EQ(last, INT64_MAX);
}

TEST(ParallelFor, InvalidArguments) {
  EXPECT_EQ(runEntry([] { parallelFor(-1, 1, [](int64_t, int64_t) {}); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(runEntry([] { parallelFor(4, 0, [](int64_t, int64_t) {}); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "a parallel loop of 4 iterations in chunks of 0");
}

TEST(ParallelFor, SameBitsForAnyThreadCount) {
  constexpr int64_t count = 100003, grain = 1000;
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = 1.0f / static_cast<float>(i + 1);
  float expected = 0;
  for (int32_t threads : {1, 2, 3, 4}) {
    ThreadCount setting(threads);
    float partial[(count - 1) / grain + 1] = {};
    float sum = 0;
    runEntry([&] {
      parallelFor(count, grain, [&](int64_t begin, int64_t end) {
        float chunk = 0;
        for (int64_t i = begin; i < end; ++i)
          chunk += values[i];
        partial[begin / grain] = chunk;
      });
      for (float chunk : partial)
        sum += chunk;
    });
    if (threads == 1)
      expected = sum;
    EXPECT_EQ(std::memcmp(&sum, &expected, sizeof(sum)), 0) << threads;
  }
}

TEST(ParallelFor, RunsOnSeveralThreads) {
  ThreadCount setting(4);
  sparseAutogradResetCounters();
  // Each chunk waits until another has started: one thread alone would hang.
  std::atomic<int> started{0};
  EXPECT_EQ(runEntry([&] {
              parallelFor(2, 1, [&](int64_t, int64_t) {
                ++started;
                while (started < 2)
                  std::this_thread::yield();
              });
            }),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(counters().parallelRegions, 1);
}

TEST(ParallelFor, OneThreadOrOneChunkIsAPlainLoop) {
  sparseAutogradResetCounters();
  std::thread::id caller = std::this_thread::get_id();
  {
    ThreadCount setting(1);
    int64_t next = 0;
    runEntry([&] {
      parallelFor(100, 7, [&](int64_t begin, int64_t end) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_EQ(begin, next);
        next = end;
      });
    });
    EXPECT_EQ(next, 100);
  }
  ThreadCount setting(4);
  runEntry([&] {
    parallelFor(100, 100, [&](int64_t, int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
    });
  });
  EXPECT_EQ(counters().parallelRegions, 0);
}

TEST(ParallelFor, NestedLoopsRunOnTheirThread) {
  ThreadCount setting(4);
  std::atomic<int64_t> total{0}, elsewhere{0};
  sparseAutogradResetCounters();
  runEntry([&] {
    parallelFor(8, 1, [&](int64_t, int64_t) {
      std::thread::id outer = std::this_thread::get_id();
      parallelFor(16, 1, [&](int64_t, int64_t) {
        ++total;
        elsewhere += std::this_thread::get_id() != outer;
      });
    });
  });
  EXPECT_EQ(total, 8 * 16);
  EXPECT_EQ(elsewhere, 0);
  EXPECT_EQ(counters().parallelRegions, 1);
}

TEST(ParallelFor, ErrorOfTheLowestChunk) {
  int64_t live = counters().liveBlocks;
  for (int32_t threads : {1, 2, 3, 4})
    for (int round = 0; round < 50; ++round) {
      ThreadCount setting(threads);
      EXPECT_EQ(runEntry([&] {
                  parallelFor(1000, 10, [&](int64_t begin, int64_t) {
                    sparseAutogradAllocate(100);
                    int64_t chunk = begin / 10;
                    if (chunk >= 37 && chunk % 2)
                      sparseAutogradRaiseWithValues(
                          static_cast<int32_t>(100 + chunk), "chunk {}", 1,
                          &chunk);
                  });
                }),
                137);
      EXPECT_STREQ(sparseAutogradLastError(), "chunk 37");
      ASSERT_EQ(counters().liveBlocks, live);
    }
}

TEST(ParallelFor, ErrorInANestedLoop) {
  int64_t live = counters().liveBlocks;
  for (int32_t threads : {1, 2, 4}) {
    ThreadCount setting(threads);
    EXPECT_EQ(runEntry([&] {
                parallelFor(16, 1, [&](int64_t outer, int64_t) {
                  sparseAutogradAllocate(64);
                  parallelFor(16, 1, [&](int64_t inner, int64_t) {
                    sparseAutogradAllocate(64);
                    int64_t values[] = {outer, inner};
                    if (outer >= 5 && inner >= 3)
                      sparseAutogradRaiseWithValues(9, "{} {}", 2, values);
                  });
                });
              }),
              9);
    EXPECT_STREQ(sparseAutogradLastError(), "5 3");
    EXPECT_EQ(counters().liveBlocks, live);
    // The loop after a failed one is parallel again and complete.
    std::atomic<int> total{0};
    runEntry([&] { parallelFor(10, 1, [&](int64_t, int64_t) { ++total; }); });
    EXPECT_EQ(total, 10);
  }
}

TEST(ParallelFor, EntryCalledFromABody) {
  ThreadCount setting(4);
  int64_t live = counters().liveBlocks;
  std::atomic<int> failures{0};
  EXPECT_EQ(runEntry([&] {
              parallelFor(32, 1, [&](int64_t begin, int64_t) {
                failures += runEntry([&] {
                              sparseAutogradAllocate(64);
                              parallelFor(4, 1, [](int64_t, int64_t) {});
                              sparseAutogradRaise(3, "inner");
                            }) == 3;
                if (begin == 20)
                  sparseAutogradRaise(4, "outer");
              });
            }),
            4);
  EXPECT_STREQ(sparseAutogradLastError(), "outer");
  EXPECT_GE(failures, 21);
  EXPECT_EQ(counters().liveBlocks, live);
}

TEST(ParallelFor, InsideTheCallersOwnParallelRegion) {
  ThreadCount setting(4);
  int wrong = 0;
#pragma omp parallel for num_threads(4) reduction(+ : wrong)
  for (int i = 0; i < 64; ++i) {
    int64_t sum = 0;
    std::thread::id caller = std::this_thread::get_id();
    wrong += sparseAutogradGetThreadCount() != 1;
    wrong += runEntry([&] {
      parallelFor(100, 10, [&](int64_t begin, int64_t end) {
        if (std::this_thread::get_id() != caller)
          sparseAutogradRaise(3, "another thread");
        for (int64_t k = begin; k < end; ++k)
          sum += k;
      });
    });
    wrong += sum != 4950;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ParallelFor, ThreadCountSetting) {
  EXPECT_EQ(sparseAutogradGetThreadCount(), omp_get_max_threads());
  sparseAutogradSetThreadCount(3);
  EXPECT_EQ(sparseAutogradGetThreadCount(), 3);
  sparseAutogradSetThreadCount(-1);
  EXPECT_EQ(sparseAutogradGetThreadCount(), omp_get_max_threads());
}
