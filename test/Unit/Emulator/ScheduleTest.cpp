//===- ScheduleTest.cpp - The order of threads ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <set>
#include <thread>

/// Each thread takes the next number.
static void takeNumbers(void **parameters) {
  int32_t *next = parameter<int32_t *>(parameters, 0);
  int32_t *out = parameter<int32_t *>(parameters, 1);
  int32_t index = blockId() * 64 + threadId();
  for (int32_t i = 0; i < 4; ++i)
    store(&out[4 * index + i], atomicAdd(next, 1));
}

static std::vector<int32_t> getOrder(uint64_t seed) {
  Device device(seed);
  int32_t *next = device.allocate(std::vector<int32_t>{0});
  int32_t *out = device.allocate(std::vector<int32_t>(4 * 128));
  EXPECT_EQ(device.launch(takeNumbers, 2, 64, 0, next, out),
            SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_EQ(*next, 4 * 128);
  return std::vector<int32_t>(out, out + 4 * 128);
}

TEST(Schedule, ThePlainOrder) {
  std::vector<int32_t> order = getOrder(0);
  for (int32_t i = 0; i < 4 * 128; ++i)
    ASSERT_EQ(order[i], i);
}

TEST(Schedule, OneForEachSeed) {
  std::set<std::vector<int32_t>> orders;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<int32_t> order = getOrder(seed);
    EXPECT_EQ(order, getOrder(seed));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 10u);
}

TEST(Schedule, BlocksComeInOtherOrders) {
  auto kernel = [](void **parameters) {
    int32_t *next = parameter<int32_t *>(parameters, 0);
    store(&parameter<int32_t *>(parameters, 1)[blockId()], atomicAdd(next, 1));
  };
  std::set<std::vector<int32_t>> orders;
  std::vector<int32_t> plain;
  for (int32_t i = 0; i < 16; ++i)
    plain.push_back(i);
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *next = device.allocate(std::vector<int32_t>{0});
    int32_t *out = device.allocate(std::vector<int32_t>(16));
    ASSERT_EQ(device.launch(kernel, 16, 1, 0, next, out),
              SPARSE_AUTOGRAD_SUCCESS);
    std::vector<int32_t> order(out, out + 16);
    EXPECT_THAT(order, testing::UnorderedElementsAreArray(plain));
    EXPECT_EQ(order == plain, seed == 0);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 2u);
}

TEST(Schedule, ThreadsAreInterrupted) {
  // Reads and writes apart: with races unseen, additions get lost.
  auto kernel = [](void **parameters) {
    int32_t *sum = parameter<int32_t *>(parameters, 0);
    int32_t old = load(sum);
    store(sum, old + 1);
  };
  bool isLost = false;
  for (uint64_t seed : someSeeds()) {
    SparseAutogradEmulatorOptions options = withSeed(seed);
    options.detectRaces = 0;
    Device device(options);
    int32_t *sum = device.allocate(std::vector<int32_t>{0});
    ASSERT_EQ(device.launch(kernel, 1, 64, 0, sum), SPARSE_AUTOGRAD_SUCCESS);
    if (seed == 0)
      EXPECT_EQ(*sum, 64);
    isLost |= *sum < 64;
  }
  EXPECT_TRUE(isLost);
}

TEST(Schedule, AThreadThatWaitsForAnotherOne) {
  // Thread 0 looks again and again at what thread 1 writes: also in the plain
  // order it is interrupted at some time.
  auto kernel = [](void **parameters) {
    int32_t *flag = parameter<int32_t *>(parameters, 0);
    if (threadId() == 0)
      while (atomicAdd(flag, 0) == 0)
        ;
    else
      atomicAdd(flag, 1);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *flag = device.allocate(std::vector<int32_t>{0});
    EXPECT_EQ(device.launch(kernel, 1, 2, 0, flag), SPARSE_AUTOGRAD_SUCCESS);
  }
}

TEST(Schedule, EndlessLoops) {
  SparseAutogradEmulatorOptions options = withSeed(1);
  options.maxSteps = 10000;
  Device device(options);
  auto spin = [](void **) {
    for (;;)
      sparseAutogradEmulateStep("the loop");
  };
  EXPECT_FAULT(device, device.launch(spin, 1, 2, 0),
               SPARSE_AUTOGRAD_EMULATOR_TOO_MANY_STEPS,
               "has not ended after 10000 steps of its block (an endless "
               "loop?), at [the loop]");
  auto barriers = [](void **) {
    for (;;)
      barrier(HERE);
  };
  EXPECT_FAULT(device, device.launch(barriers, 1, 2, 0),
               SPARSE_AUTOGRAD_EMULATOR_TOO_MANY_STEPS, "(an endless loop?)");
  auto shuffles = [](void **) {
    for (;;)
      shuffle(SPARSE_AUTOGRAD_SHUFFLE_INDEX, 3, 1, 0);
  };
  EXPECT_FAULT(device, device.launch(shuffles, 1, 2, 0),
               SPARSE_AUTOGRAD_EMULATOR_TOO_MANY_STEPS, "(an endless loop?)");
}

TEST(Schedule, EmulatorsOfSeveralThreads) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    store(&shared<int32_t>()[threadId()], threadId());
    barrier(HERE);
    store(&out[64 * blockId() + threadId()],
          load(&shared<int32_t>()[63 - threadId()]));
  };
  std::vector<int> failures(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Device device(t);
      int32_t *out = device.allocate(std::vector<int32_t>(64 * 20));
      failures[t] += device.launch(kernel, 20, 64, 256, out) != 0;
      for (int32_t i = 0; i < 64 * 20; ++i)
        failures[t] += out[i] != 63 - i % 64;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(failures, testing::Each(0));
}

TEST(Schedule, SeveralEmulators) {
  // One kernel may not launch another one, but emulators take turns.
  Device a(1), b(2);
  int32_t *outA = a.allocate(std::vector<int32_t>(64));
  int32_t *outB = b.allocate(std::vector<int32_t>(64));
  auto kernel = [](void **parameters) {
    store(&parameter<int32_t *>(parameters, 0)[threadId()], threadId());
    barrier(HERE);
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(a.launch(kernel, 1, 64, 0, outA), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_EQ(b.launch(kernel, 1, 64, 0, outB), SPARSE_AUTOGRAD_SUCCESS);
  }
  EXPECT_EQ(outA[63], 63);
  EXPECT_EQ(outB[63], 63);
  // The buffers of one are not those of the other.
  EXPECT_NE(b.launch(kernel, 1, 64, 0, outA), SPARSE_AUTOGRAD_SUCCESS);
}
