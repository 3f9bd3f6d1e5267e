//===- MemoryTest.cpp - Memory of the device --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

namespace {
class Memory : public DeviceTest {
protected:
  void TearDown() override {
    EXPECT_EQ(sparseAutogradSetDevicePoolLimit(-1), 0);
    DeviceTest::TearDown();
  }

  static int64_t getPooledBytes() {
    SparseAutogradDeviceInfo info = {};
    EXPECT_EQ(sparseAutogradGetDeviceInfo(&info), 0) << lastError();
    return info.pooledBytes;
  }
};

using MemoryDeathTest = Memory;

constexpr int64_t half = 1 << 19;
} // namespace

TEST_F(Memory, OutOfMemory) {
  EXPECT_EQ(runEntry([] {
              sparseAutogradDeviceAllocate(half);
              sparseAutogradDeviceAllocate(1000);
              sparseAutogradDeviceAllocate(half);
            }),
            SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  EXPECT_EQ(lastError(),
            "out of memory on cuda:0: 524288 bytes were asked for; of 1048576 "
            "bytes, 523288 are free, and this program's entries hold 525288");
  EXPECT_EQ(deviceCounters().liveBlocks, 0);
  // There is enough for the next entry.
  EXPECT_EQ(runEntry([] { sparseAutogradDeviceAllocate(half); }), 0)
      << lastError();
}

TEST_F(Memory, MoreThanAnyDeviceHas) {
  EXPECT_EQ(runEntry([] { sparseAutogradDeviceAllocate(INT64_MAX); }),
            SPARSE_AUTOGRAD_OUT_OF_MEMORY);
}

TEST_F(Memory, KeptMemoryIsGivenBackBeforeThereIsNone) {
  ASSERT_EQ(runEntry([] {
              // Kept, but too small for what follows.
              for (int i = 0; i < 2; ++i)
                sparseAutogradDeviceDeallocate(
                    sparseAutogradDeviceAllocate(half - i));
              void *x = sparseAutogradDeviceAllocate(2 * half);
              sparseAutogradDeviceDeallocate(x);
            }),
            0)
      << lastError();
  EXPECT_EQ(fake_driver::countCalls("cuMemPoolTrimTo"), 1);
  EXPECT_EQ(deviceCounters().waits, 1);
}

TEST_F(Memory, MemoryIsReusedWithoutWaiting) {
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(runEntry([] {
                sparseAutogradDeviceDeallocate(
                    sparseAutogradDeviceAllocate(2 * half));
              }),
              0)
        << lastError();
  EXPECT_EQ(fake_driver::countCalls("cuStreamSynchronize"), 0);
  EXPECT_EQ(fake_driver::countCalls("cuMemPoolTrimTo"), 0);
}

TEST_F(Memory, ThePoolCanBeTrimmed) {
  ASSERT_EQ(runEntry([] {
              sparseAutogradDeviceDeallocate(
                  sparseAutogradDeviceAllocate(1000));
            }),
            0);
  EXPECT_EQ(getPooledBytes(), 1000);
  EXPECT_EQ(sparseAutogradTrimDevicePool(), 0) << lastError();
  EXPECT_EQ(getPooledBytes(), 0);
}

TEST_F(Memory, ThePoolIsBounded) {
  ASSERT_EQ(getPooledBytes(), 0);
  EXPECT_THAT(fake_driver::getPoolLimits(), testing::ElementsAre(UINT64_MAX));
  EXPECT_EQ(sparseAutogradSetDevicePoolLimit(12345), 0);
  EXPECT_THAT(fake_driver::getPoolLimits(), testing::ElementsAre(12345));
  ASSERT_EQ(sparseAutogradCloseDevices(), 0);
  ASSERT_EQ(getPooledBytes(), 0);
  EXPECT_THAT(fake_driver::getPoolLimits(), testing::ElementsAre(12345));
  fake_driver::failCall("cuMemPoolSetAttribute", 1, 1);
  EXPECT_EQ(sparseAutogradSetDevicePoolLimit(0), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(), "cuda:0: bounding the memory kept for reuse: "
                         "CUDA_ERROR_INVALID_VALUE (text of the driver)");
}

static void readLimitAndExit(const char *limit, uint64_t expected) {
  Variable variable("SPARSE_AUTOGRAD_DEVICE_POOL_BYTES", limit);
  SparseAutogradDeviceInfo info = {};
  bool fine = sparseAutogradGetDeviceInfo(&info) == 0 &&
              fake_driver::getPoolLimits() == std::vector<uint64_t>{expected};
  std::exit(fine ? 0 : 1);
}

TEST_F(MemoryDeathTest, ThePoolIsBoundedByTheEnvironment) {
  // In processes of their own, in which nobody has set a bound.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(readLimitAndExit("4096", 4096), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(readLimitAndExit("0", 0), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(readLimitAndExit("4k", UINT64_MAX), testing::ExitedWithCode(0),
              "");
}

TEST_F(Memory, Counters) {
  ASSERT_EQ(runEntry([] {
              void *x = sparseAutogradDeviceAllocate(100);
              void *y = sparseAutogradDeviceAllocate(50);
              sparseAutogradDeviceDeallocate(x);
              sparseAutogradResetDeviceCounters();
              void *z = sparseAutogradDeviceAllocate(7);
              sparseAutogradDeviceDeallocate(y);
              sparseAutogradDeviceDeallocate(z);
            }),
            0);
  SparseAutogradDeviceCounters counters = deviceCounters();
  EXPECT_EQ(counters.allocations, 1);
  EXPECT_EQ(counters.allocatedBytes, 7);
  EXPECT_EQ(counters.peakLiveBlocks, 2);
  EXPECT_EQ(counters.peakLiveBytes, 57);
  EXPECT_EQ(counters.liveBlocks, 0);
  EXPECT_EQ(counters.liveBytes, 0);
}

TEST_F(Memory, ManyBlocks) {
  // More than the table has buckets.
  constexpr int count = 6000;
  static void *blocks[count];
  ASSERT_EQ(runEntry([] {
              for (void *&block : blocks)
                block = sparseAutogradDeviceAllocate(1);
              for (int i = 0; i < count; i += 2)
                sparseAutogradDeviceDeallocate(blocks[i]);
              for (int i = 1; i < count; i += 2)
                sparseAutogradDeviceDeallocate(blocks[i]);
            }),
            0)
      << lastError();
  EXPECT_EQ(deviceCounters().peakLiveBlocks, count);
  EXPECT_EQ(deviceCounters().abandonedBlocks, 0);
}
