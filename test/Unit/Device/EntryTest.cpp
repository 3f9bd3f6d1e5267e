//===- EntryTest.cpp - Entries that use a device ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <thread>

namespace {
class Entries : public DeviceTest {};
using EntriesDeathTest = Entries;
} // namespace

TEST_F(Entries, ComputeOnTheDevice) {
  Image image("kernels: scale");
  double from[] = {1, 2, 3}, to[3] = {};
  ASSERT_EQ(runEntry([&] { doubleOnDevice(image, from, to, 3); }), 0)
      << lastError();
  EXPECT_THAT(to, testing::ElementsAre(2, 4, 6));
  SparseAutogradDeviceCounters counters = deviceCounters();
  EXPECT_EQ(counters.allocations, 1);
  EXPECT_EQ(counters.allocatedBytes, 24);
  EXPECT_EQ(counters.peakLiveBlocks, 1);
  EXPECT_EQ(counters.peakLiveBytes, 24);
  EXPECT_EQ(counters.abandonedBlocks, 0);
  EXPECT_EQ(counters.launches, 1);
  EXPECT_EQ(counters.loads, 1);
  EXPECT_EQ(counters.bytesCopiedIn, 24);
  EXPECT_EQ(counters.bytesCopiedOut, 24);
  EXPECT_EQ(counters.waits, 1);
}

TEST_F(Entries, WaitOnlyWhereDataComesOut) {
  Image image("kernels: scale");
  double from[] = {1, 2}, to[2] = {};
  int waitsBefore = -1;
  ASSERT_EQ(runEntry([&] {
              int64_t count = 2;
              void *x = sparseAutogradDeviceAllocate(16);
              void *y = sparseAutogradDeviceAllocate(16);
              sparseAutogradDeviceCopyIn(x, from, 16);
              sparseAutogradDeviceFill(y, 2, 8, 0);
              for (int step = 0; step < 10; ++step) {
                void *parameters[] = {&x, &count};
                launch(image, "scale", parameters, 2);
                sparseAutogradDeviceCopy(y, x, 16);
                sparseAutogradDeviceDeallocate(x);
                x = y;
                y = sparseAutogradDeviceAllocate(16);
              }
              waitsBefore = fake_driver::countCalls("cuStreamSynchronize");
              sparseAutogradDeviceCopyOut(to, x, 16);
              sparseAutogradDeviceDeallocate(x);
              sparseAutogradDeviceDeallocate(y);
            }),
            0)
      << lastError();
  EXPECT_THAT(to, testing::ElementsAre(1024, 2048));
  EXPECT_EQ(waitsBefore, 0);
  EXPECT_EQ(fake_driver::countCalls("cuStreamSynchronize"), 1);
  EXPECT_EQ(fake_driver::countCalls("cuStreamCreate"), 1);
  EXPECT_EQ(deviceCounters().bytesCopiedOnDevice, 160);
}

TEST_F(Entries, FillElementsOfEverySize) {
  uint64_t pattern = 0x0102030405060708;
  for (int64_t size : {1, 2, 4, 8})
    for (int64_t count : {0, 1, 5})
      for (uint64_t value : {pattern, uint64_t(0), ~uint64_t(0)}) {
        unsigned char bytes[48] = {};
        ASSERT_EQ(runEntry([&] {
                    void *x = sparseAutogradDeviceAllocate(48);
                    sparseAutogradDeviceFill(x, 48, 1, 0xEE);
                    // Not at the beginning of what was allocated.
                    sparseAutogradDeviceFill(static_cast<char *>(x) + size,
                                             count, size, value);
                    sparseAutogradDeviceCopyOut(bytes, x, 48);
                    sparseAutogradDeviceDeallocate(x);
                  }),
                  0)
            << lastError();
        for (int64_t i = 0; i < 48; ++i) {
          bool filled = i >= size && i < size + size * count;
          int expected = filled ? (value >> (i % size * 8)) & 0xFF : 0xEE;
          EXPECT_EQ(bytes[i], expected)
              << count << " elements of " << size << " bytes, byte " << i;
        }
      }
}

TEST_F(Entries, NothingToDoIsNoCallOfTheDriver) {
  Image image("kernels: nothing");
  ASSERT_EQ(runEntry([&] {
              sparseAutogradDeviceDeallocate(nullptr);
              sparseAutogradDeviceCopyIn(nullptr, nullptr, 0);
              sparseAutogradDeviceCopyOut(nullptr, nullptr, 0);
              sparseAutogradDeviceCopy(nullptr, nullptr, 0);
              sparseAutogradDeviceFill(nullptr, 0, 4, 1);
              sparseAutogradDeviceLaunch(&image.image, "nothing", 0, 1, 1, 32,
                                         1, 1, 0, 0, nullptr);
            }),
            0)
      << lastError();
  for (const char *function :
       {"cuMemFreeAsync", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
        "cuMemcpyDtoDAsync_v2", "cuMemsetD32Async", "cuLaunchKernel",
        "cuStreamSynchronize"})
    EXPECT_EQ(fake_driver::countCalls(function), 0) << function;
  EXPECT_EQ(deviceCounters().launches, 0);
}

TEST_F(Entries, BlocksOfNoBytesHaveAddressesOfTheirOwn) {
  bool differ = false;
  ASSERT_EQ(runEntry([&] {
              void *x = sparseAutogradDeviceAllocate(0);
              void *y = sparseAutogradDeviceAllocate(0);
              differ = x && y && x != y;
              sparseAutogradDeviceDeallocate(x);
              sparseAutogradDeviceDeallocate(y);
            }),
            0)
      << lastError();
  EXPECT_TRUE(differ);
  EXPECT_EQ(deviceCounters().allocatedBytes, 0);
}

TEST_F(Entries, ErrorReleasesEverything) {
  Image image("kernels: nothing");
  EXPECT_EQ(runEntry([&] {
              for (int i = 0; i < 20; ++i)
                sparseAutogradDeviceAllocate(i * 8);
              launch(image, "nothing");
              sparseAutogradRaise(SPARSE_AUTOGRAD_OUT_OF_RANGE, "too far");
            }),
            SPARSE_AUTOGRAD_OUT_OF_RANGE);
  EXPECT_EQ(lastError(), "too far");
  SparseAutogradDeviceCounters counters = deviceCounters();
  EXPECT_EQ(counters.liveBlocks, 0);
  EXPECT_EQ(counters.peakLiveBlocks, 20);
  EXPECT_EQ(counters.abandonedBlocks, 0);
  // Nothing of the host is read or written: nobody has to wait.
  EXPECT_EQ(counters.waits, 0);
}

TEST_F(Entries, ErrorWaitsForCopiesOfTheHost) {
  EXPECT_EQ(runEntry([&] {
              void *host = sparseAutogradAllocate(64);
              void *x = sparseAutogradDeviceAllocate(64);
              sparseAutogradDeviceFill(x, 64, 1, 0);
              std::memset(host, 0, 64);
              sparseAutogradDeviceCopyIn(x, host, 64);
              sparseAutogradRaise(3, "stop");
            }),
            3);
  EXPECT_EQ(fake_driver::countCalls("cuStreamSynchronize"), 1);
  // The next entry has nothing to wait for.
  EXPECT_EQ(runEntry([] {
              sparseAutogradDeviceAllocate(8);
              sparseAutogradRaise(3, "stop");
            }),
            3);
  EXPECT_EQ(fake_driver::countCalls("cuStreamSynchronize"), 1);
}

TEST_F(Entries, WhatIsLeftAtTheEndIsReleasedAndCounted) {
  EXPECT_EQ(runEntry([] { sparseAutogradDeviceAllocate(100); }), 0);
  EXPECT_EQ(deviceCounters().abandonedBlocks, 1);
  EXPECT_EQ(deviceCounters().liveBlocks, 0);
  EXPECT_THAT(fake_driver::getAlive(),
              testing::Not(testing::Contains("memory of 100 bytes")));
}

TEST_F(Entries, NestedEntriesShareTheStream) {
  Image image("kernels: scale");
  double from[] = {1}, to[1] = {};
  int32_t inner = -1, failed = -1;
  EXPECT_EQ(runEntry([&] {
              void *x = sparseAutogradDeviceAllocate(8);
              inner = runEntry([&] { doubleOnDevice(image, from, to, 1); });
              failed = runEntry([&] {
                // A frame without a device in between.
                runEntry([] { sparseAutogradDeviceAllocate(16); });
                sparseAutogradDeviceAllocate(32);
                // Of the outer entry, which goes on without.
                sparseAutogradDeviceDeallocate(x);
                sparseAutogradRaise(5, "inner");
              });
              sparseAutogradRaise(6, "outer");
            }),
            6);
  EXPECT_EQ(inner, 0);
  EXPECT_EQ(failed, 5);
  EXPECT_EQ(to[0], 2);
  EXPECT_EQ(fake_driver::countCalls("cuStreamCreate"), 1);
  EXPECT_EQ(fake_driver::countCalls("cuMemAllocFromPoolAsync"),
            fake_driver::countCalls("cuMemFreeAsync"));
}

TEST_F(Entries, RefuseWhatIsNoSize) {
  int64_t x;
  EXPECT_EQ(runEntry([] { sparseAutogradDeviceAllocate(-8); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(), "an allocation of -8 bytes on the device: the size of "
                         "a tensor overflowed");
  EXPECT_EQ(runEntry([&] { sparseAutogradDeviceCopyIn(&x, &x, -1); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(runEntry([&] { sparseAutogradDeviceCopyOut(&x, &x, -1); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(runEntry([&] { sparseAutogradDeviceCopy(&x, &x, -1); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(runEntry([&] { sparseAutogradDeviceFill(&x, -1, 4, 0); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(runEntry([&] { sparseAutogradDeviceFill(&x, 1, 3, 0); }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(), "elements of 3 bytes cannot be filled on the device: "
                         "1, 2, 4 and 8 can");
}

TEST_F(Entries, RefuseToReleaseTwice) {
  EXPECT_EQ(runEntry([] {
              void *x = sparseAutogradDeviceAllocate(8);
              sparseAutogradDeviceDeallocate(x);
              sparseAutogradDeviceDeallocate(x);
            }),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(),
            "device memory was released that is not in use: released twice?");
}

TEST_F(Entries, ParallelLoopsOfTheHostCannotUseTheDevice) {
  ThreadCount threads(2);
  EXPECT_EQ(runEntry([] {
              parallelFor(4, 1, [](int64_t, int64_t) {
                sparseAutogradDeviceAllocate(8);
              });
            }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "the device was used in the body of a parallel loop of the host");
}

TEST_F(Entries, SuccessLeavesTheLastErrorAlone) {
  Image image("kernels: scale");
  double from[] = {1}, to[1] = {};
  runEntry([] { sparseAutogradRaise(3, "first"); });
  ASSERT_EQ(runEntry([&] {
              doubleOnDevice(image, from, to, 1);
              sparseAutogradDeviceAllocate(8);
            }),
            0);
  EXPECT_EQ(sparseAutogradCloseDevices(), 0);
  EXPECT_EQ(lastError(), "first");
}

TEST_F(Entries, SeveralThreads) {
  Image image("kernels: scale nothing");
  constexpr int threads = 4, rounds = 100;
  int wrong[threads] = {};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([t, &wrong, &image] {
      for (int round = 0; round < rounds; ++round) {
        bool fails = (round + t) % 3 == 0;
        double from[2] = {double(t), double(round)}, to[2] = {};
        int32_t status = runEntry([&] {
          sparseAutogradDeviceAllocate(8 * t);
          launch(image, "nothing", nullptr, 0, 50000 + 100 * round);
          doubleOnDevice(image, from, to, 2);
          if (fails)
            sparseAutogradRaise(1000 + t, "concurrent");
        });
        wrong[t] += status != (fails ? 1000 + t : 0);
        wrong[t] += to[0] != 2 * t || to[1] != 2 * round;
      }
    });
  for (std::thread &thread : pool)
    thread.join();
  for (int t = 0; t < threads; ++t)
    EXPECT_EQ(wrong[t], 0) << "thread " << t;
  SparseAutogradDeviceCounters counters = deviceCounters();
  EXPECT_EQ(counters.launches, 2 * threads * rounds);
  EXPECT_EQ(counters.loads, 1);
  EXPECT_EQ(fake_driver::countCalls("cuModuleGetFunction"), 2);
  EXPECT_LE(fake_driver::countCalls("cuStreamCreate"), threads);
}

TEST_F(EntriesDeathTest, OutsideOfAnyEntry) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(sparseAutogradDeviceAllocate(8), testing::ExitedWithCode(70),
              "the device was used outside of any entry");
}
