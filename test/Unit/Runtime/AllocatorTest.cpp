//===- AllocatorTest.cpp - Blocks, the pool and the counters ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

/// As in Allocator.cpp.
#if defined(__SANITIZE_ADDRESS__)
static constexpr int64_t headerBytes = 128;
#elif defined(__has_feature)
static constexpr int64_t headerBytes =
    __has_feature(address_sanitizer) ? 128 : 64;
#else
static constexpr int64_t headerBytes = 64;
#endif

namespace {
/// Starts with an empty pool and ends with the default settings.
class Allocator : public testing::Test {
protected:
  void SetUp() override {
    sparseAutogradTrimPool();
    sparseAutogradSetPoolLimit(int64_t(1) << 30);
    sparseAutogradResetCounters();
  }
  void TearDown() override {
    sparseAutogradSetMemoryLimit(-1);
    sparseAutogradSetPoolLimit(int64_t(1) << 30);
    EXPECT_EQ(counters().liveBlocks, 0);
    EXPECT_EQ(counters().liveBytes, 0);
  }
};
} // namespace

TEST_F(Allocator, AlignedAndWritable) {
  runEntry([] {
    for (int64_t bytes : {0, 1, 63, 64, 65, 4096, 1 << 20, (5 << 20) + 1}) {
      void *block = sparseAutogradAllocate(bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u) << bytes;
      std::memset(block, 0xab, bytes);
      sparseAutogradDeallocate(block);
    }
  });
}

TEST_F(Allocator, EmptyBlocksAreDistinct) {
  runEntry([] {
    void *a = sparseAutogradAllocate(0);
    void *b = sparseAutogradAllocate(0);
    EXPECT_NE(a, nullptr);
    EXPECT_NE(a, b);
    sparseAutogradDeallocate(a);
    sparseAutogradDeallocate(b);
    sparseAutogradDeallocate(nullptr);
  });
  EXPECT_EQ(sparseAutogradFree(nullptr), SPARSE_AUTOGRAD_SUCCESS);
}

TEST_F(Allocator, NegativeSize) {
  EXPECT_EQ(runEntry([] { sparseAutogradAllocate(-8); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(sparseAutogradLastError(), "-8 bytes"), nullptr);
}

TEST_F(Allocator, HugeSize) {
  EXPECT_EQ(runEntry([] { sparseAutogradAllocate(INT64_MAX); }),
            SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  EXPECT_NE(std::strstr(sparseAutogradLastError(), "9223372036854775807"),
            nullptr);
}

TEST_F(Allocator, LimitIsAnErrorAndLeavesNothing) {
  sparseAutogradSetMemoryLimit(1 << 20);
  EXPECT_EQ(runEntry([] {
              sparseAutogradAllocate(1 << 19);
              sparseAutogradAllocate(1 << 19);
            }),
            SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  std::string message = sparseAutogradLastError();
  EXPECT_NE(message.find("524288 bytes were asked for"), std::string::npos);
  EXPECT_NE(message.find("the limit is 1048576"), std::string::npos);
  EXPECT_EQ(counters().liveBlocks, 0);
  // What is within the limit still works.
  EXPECT_EQ(runEntry([] {
              sparseAutogradDeallocate(sparseAutogradAllocate(1 << 19));
            }),
            SPARSE_AUTOGRAD_SUCCESS);
}

TEST_F(Allocator, LimitTakesFromThePoolFirst) {
  runEntry([] { sparseAutogradDeallocate(sparseAutogradAllocate(600000)); });
  EXPECT_GE(counters().pooledBytes, 600000);
  sparseAutogradSetMemoryLimit(1 << 20);
  EXPECT_GE(counters().pooledBytes, 600000);
  EXPECT_EQ(runEntry([] {
              sparseAutogradDeallocate(sparseAutogradAllocate(900000));
            }),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_LE(counters().pooledBytes, 1 << 20);
  sparseAutogradSetMemoryLimit(0);
  EXPECT_EQ(counters().pooledBytes, 0);
  EXPECT_EQ(runEntry([] { sparseAutogradAllocate(0); }),
            SPARSE_AUTOGRAD_OUT_OF_MEMORY);
}

TEST_F(Allocator, OutOfMemoryInALoopBody) {
  ThreadCount threads(4);
  sparseAutogradSetMemoryLimit(1 << 20);
  EXPECT_EQ(runEntry([] {
              parallelFor(64, 1, [](int64_t, int64_t) {
                sparseAutogradAllocate(100000);
              });
            }),
            SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  EXPECT_EQ(counters().liveBlocks, 0);
}

TEST_F(Allocator, PoolReusesTheMostRecentBlock) {
  runEntry([] {
    void *a = sparseAutogradAllocate(100000);
    void *b = sparseAutogradAllocate(100000);
    sparseAutogradDeallocate(a);
    sparseAutogradDeallocate(b);
    EXPECT_EQ(sparseAutogradAllocate(100000), b);
    // A little less is of the same class.
    EXPECT_EQ(sparseAutogradAllocate(99500), a);
    EXPECT_NE(sparseAutogradAllocate(100000), nullptr);
    sparseAutogradRaise(3, "done");
  });
  EXPECT_EQ(counters().poolHits, 2);
  EXPECT_EQ(counters().allocations, 5);
}

TEST_F(Allocator, PoolIsBounded) {
  sparseAutogradSetPoolLimit(1 << 20);
  void *first = nullptr;
  runEntry([&] {
    void *blocks[10];
    for (void *&block : blocks)
      block = sparseAutogradAllocate(200000);
    first = blocks[0];
    for (void *block : blocks)
      sparseAutogradDeallocate(block);
  });
  EXPECT_LE(counters().pooledBytes, 1 << 20);
  EXPECT_GT(counters().pooledBytes, (1 << 20) - 250000);
  // A block larger than the pool does not empty it.
  int64_t pooled = counters().pooledBytes;
  runEntry([] { sparseAutogradDeallocate(sparseAutogradAllocate(2 << 20)); });
  EXPECT_EQ(counters().pooledBytes, pooled);
  sparseAutogradSetPoolLimit(0);
  EXPECT_EQ(counters().pooledBytes, 0);
}

TEST_F(Allocator, TrimGivesEverythingBack) {
  runEntry([] {
    for (int64_t bytes = 1; bytes < (8 << 20); bytes *= 3)
      sparseAutogradAllocate(bytes);
    sparseAutogradRaise(3, "done");
  });
  EXPECT_GT(counters().pooledBytes, 0);
  sparseAutogradTrimPool();
  EXPECT_EQ(counters().pooledBytes, 0);
}

TEST_F(Allocator, RoundingIsAtMostAnEighth) {
  for (int64_t bytes = 0; bytes < (1 << 16); bytes = bytes * 9 / 8 + 1) {
    sparseAutogradTrimPool();
    runEntry([=] { sparseAutogradDeallocate(sparseAutogradAllocate(bytes)); });
    int64_t held = counters().pooledBytes;
    int64_t total = bytes + headerBytes;
    EXPECT_GE(held, total);
    EXPECT_LE(held, std::max<int64_t>(total + 63, total * 9 / 8)) << bytes;
  }
}

TEST_F(Allocator, ReleasedTwice) {
  void *result = nullptr;
  runEntry([&] { result = sparseAutogradAllocate(64); });
  EXPECT_EQ(sparseAutogradFree(result), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(sparseAutogradFree(result), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(runEntry([&] { sparseAutogradDeallocate(result); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(counters().liveBlocks, 0);
}

TEST_F(Allocator, Counters) {
  int64_t pooled = counters().pooledBytes;
  EXPECT_EQ(pooled, 0);
  void *result = nullptr;
  runEntry([&] {
    void *a = sparseAutogradAllocate(1000);
    sparseAutogradDeallocate(sparseAutogradAllocate(500));
    sparseAutogradDeallocate(a);
    result = sparseAutogradAllocate(300);
  });
  SparseAutogradCounters now = counters();
  EXPECT_EQ(now.allocations, 3);
  EXPECT_EQ(now.allocatedBytes, 1800);
  EXPECT_EQ(now.liveBlocks, 1);
  EXPECT_EQ(now.liveBytes, 300);
  EXPECT_EQ(now.peakLiveBytes, 1500);
  EXPECT_EQ(now.entryCalls, 1);
  EXPECT_EQ(now.parallelRegions, 0);
  sparseAutogradResetCounters();
  now = counters();
  EXPECT_EQ(now.allocations, 0);
  EXPECT_EQ(now.allocatedBytes, 0);
  EXPECT_EQ(now.poolHits, 0);
  EXPECT_EQ(now.liveBlocks, 1);
  EXPECT_EQ(now.liveBytes, 300);
  EXPECT_EQ(now.peakLiveBytes, 300);
  EXPECT_EQ(now.entryCalls, 0);
  sparseAutogradFree(result);
}
