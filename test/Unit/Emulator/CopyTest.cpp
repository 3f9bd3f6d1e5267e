//===- CopyTest.cpp - Asynchronous copies -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

/// Copies 16 bytes in each thread, waits or does not, and reads them from
/// another thread.
static void copyAndRead(void **parameters) {
  int32_t *from = parameter<int32_t *>(parameters, 0);
  int32_t *out = parameter<int32_t *>(parameters, 1);
  int32_t waits = parameter<int32_t>(parameters, 2);
  int32_t *numbers = shared<int32_t>();
  sparseAutogradEmulateCopyAsync(numbers + 4 * threadId(),
                                 from + 4 * threadId(), 16, 16, "the copy");
  sparseAutogradEmulateCommitGroup();
  if (waits == 1)
    sparseAutogradEmulateWaitGroup(0, HERE);
  if (waits == 2)
    sparseAutogradEmulateWaitAll(HERE);
  if (waits != 3)
    barrier(HERE);
  for (int32_t i = 0; i < 4; ++i)
    store(&out[4 * threadId() + i],
          load(&numbers[4 * (threadId() ^ 1) + i], "the read"));
}

TEST(Copy, IsThereAfterTheWaitAndABarrier) {
  for (uint64_t seed : someSeeds())
    for (int32_t waits : {1, 2}) {
      Device device(seed);
      std::vector<int32_t> numbers(256);
      for (int32_t i = 0; i < 256; ++i)
        numbers[i] = i;
      int32_t *from = device.allocate(numbers);
      int32_t *out = device.allocate(std::vector<int32_t>(256));
      ASSERT_EQ(device.launch(copyAndRead, 1, 64, 1024, from, out, waits),
                SPARSE_AUTOGRAD_SUCCESS)
          << device.message();
      for (int32_t i = 0; i < 256; ++i)
        EXPECT_EQ(out[i], i ^ 4);
    }
}

TEST(Copy, IsNotThereBeforeTheWait) {
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *from = device.allocate(std::vector<int32_t>(256));
    int32_t *out = device.allocate(std::vector<int32_t>(256));
    EXPECT_FAULT(device, device.launch(copyAndRead, 1, 64, 1024, from, out, 0),
                 SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY,
                 "of shared memory, which a cp.async writes that has not been "
                 "waited for, at [the read]");
  }
}

TEST(Copy, NeedsABarrierForOthers) {
  auto kernel = [](void **parameters) {
    int32_t *from = parameter<int32_t *>(parameters, 0);
    sparseAutogradEmulateCopyAsync(shared<char>() + 16 * threadId(), from, 16,
                                   16, HERE);
    sparseAutogradEmulateWaitAll(HERE);
    load(shared<int32_t>() + 4 * (threadId() ^ 1), HERE);
  };
  Device device;
  int32_t *from = device.allocate(std::vector<int32_t>(4));
  EXPECT_FAULT(device, device.launch(kernel, 1, 2, 32, from),
               SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED, "thread (0, 0, 0)");
  // Thread 1 copies first: then it is a race.
  auto reversed = [](void **parameters) {
    int32_t *from = parameter<int32_t *>(parameters, 0);
    if (threadId() == 0) {
      sparseAutogradEmulateCopyAsync(shared<char>(), from, 16, 16, HERE);
      sparseAutogradEmulateWaitAll(HERE);
    } else {
      load(shared<int32_t>(), HERE);
    }
  };
  EXPECT_FAULT(device, device.launch(reversed, 1, 2, 32, from),
               SPARSE_AUTOGRAD_EMULATOR_DATA_RACE, "thread (1, 0, 0) reads");
}

TEST(Copy, GroupsInOrder) {
  // A pipeline of three stages: of what is in flight, the oldest is waited for.
  auto kernel = [](void **parameters) {
    int32_t *from = parameter<int32_t *>(parameters, 0);
    int32_t *out = parameter<int32_t *>(parameters, 1);
    int32_t inFlight = parameter<int32_t>(parameters, 2);
    int32_t *stages = shared<int32_t>() + 12 * threadId();
    auto copy = [&](int32_t step) {
      if (step < 10)
        sparseAutogradEmulateCopyAsync(stages + 4 * (step % 3),
                                       from + 4 * (10 * threadId() + step), 16,
                                       16, HERE);
      sparseAutogradEmulateCommitGroup();
    };
    copy(0);
    copy(1);
    int32_t sum = 0;
    for (int32_t step = 0; step < 10; ++step) {
      copy(step + 2);
      sparseAutogradEmulateWaitGroup(inFlight, HERE);
      for (int32_t i = 0; i < 4; ++i)
        sum += load(&stages[4 * (step % 3) + i], HERE);
    }
    store(&out[threadId()], sum);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    std::vector<int32_t> numbers(40 * 32);
    for (int32_t i = 0; i < 40 * 32; ++i)
      numbers[i] = i;
    int32_t *from = device.allocate(numbers);
    int32_t *out = device.allocate(std::vector<int32_t>(32));
    ASSERT_EQ(device.launch(kernel, 1, 32, 48 * 32, from, out, 2),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int32_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 1600 * i + 780);
    EXPECT_FAULT(device, device.launch(kernel, 1, 32, 48 * 32, from, out, 3),
                 SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY, "reads 4 bytes");
  }
}

TEST(Copy, ZerosBehindTheSource) {
  auto kernel = [](void **parameters) {
    uint8_t *from = parameter<uint8_t *>(parameters, 0);
    uint8_t *out = parameter<uint8_t *>(parameters, 1);
    int32_t source = parameter<int32_t>(parameters, 2);
    sparseAutogradEmulateCopyAsync(shared<char>(), from, 8, source, HERE);
    sparseAutogradEmulateWaitAll(HERE);
    for (int32_t i = 0; i < 8; ++i)
      store(&out[i], load(&shared<uint8_t>()[i]));
  };
  Device device;
  // No more is read than there is.
  uint8_t *from = device.allocate(std::vector<uint8_t>{1, 2, 3, 4, 5});
  uint8_t *out = device.allocate(std::vector<uint8_t>(8));
  ASSERT_EQ(device.launch(kernel, 1, 1, 8, from, out, 5),
            SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_THAT(std::vector<uint8_t>(out, out + 8),
              testing::ElementsAre(1, 2, 3, 4, 5, 0, 0, 0));
  uint8_t *none = nullptr;
  ASSERT_EQ(device.launch(kernel, 1, 1, 8, none, out, 0),
            SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_THAT(std::vector<uint8_t>(out, out + 8), testing::Each(0));
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 8, from, out, 6),
               SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, "reads 6 bytes");
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 8, from, out, 9),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               "copies 9 of 8 bytes with cp.async");
}

TEST(Copy, Misaligned) {
  auto kernel = [](void **parameters) {
    char *from = parameter<char *>(parameters, 0);
    sparseAutogradEmulateCopyAsync(shared<char>() + 8, from, 16, 16, HERE);
  };
  Device device;
  char *from = device.allocate(std::vector<char>(16));
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 64, from),
               SPARSE_AUTOGRAD_EMULATOR_MISALIGNED,
               "which is not aligned to 16 bytes");
}

TEST(Copy, OnlyWhatIsWaitedFor) {
  auto kernel = [](void **parameters) {
    int32_t *from = parameter<int32_t *>(parameters, 0);
    for (int32_t i = 0; i < 2; ++i) {
      sparseAutogradEmulateCopyAsync(shared<int32_t>() + i, from + i, 4, 4,
                                     HERE);
      sparseAutogradEmulateCommitGroup();
    }
    sparseAutogradEmulateWaitGroup(1, HERE);
    load(shared<int32_t>() + parameter<int32_t>(parameters, 1), HERE);
  };
  Device device;
  int32_t *from = device.allocate(std::vector<int32_t>(2));
  EXPECT_EQ(device.launch(kernel, 1, 1, 8, from, 0), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 8, from, 1),
               SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY, "at offset 4");
}

TEST(Copy, WritesAsSoonAsItBegins) {
  // Thread 0 reads what thread 1 copies to, before a barrier, though the copy
  // is waited for behind the barrier.
  auto kernel = [](void **parameters) {
    int32_t *from = parameter<int32_t *>(parameters, 0);
    if (threadId() == 0)
      store(shared<int32_t>(), 1, HERE);
    barrier(HERE);
    if (threadId() == 0)
      load(shared<int32_t>(), HERE);
    else
      sparseAutogradEmulateCopyAsync(shared<int32_t>(), from, 4, 4, HERE);
    barrier(HERE);
    sparseAutogradEmulateWaitAll(HERE);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *from = device.allocate(std::vector<int32_t>(2));
    EXPECT_NE(device.launch(kernel, 1, 2, 4, from), SPARSE_AUTOGRAD_SUCCESS);
    // If the copy comes first, what is read is pending.
    EXPECT_THAT(device.report().fault,
                testing::AnyOf(SPARSE_AUTOGRAD_EMULATOR_DATA_RACE,
                               SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY));
  }
}

TEST(Copy, WritesUntilItIsWaitedFor) {
  // Thread 1 waits behind the barrier, and thread 0 reads without another one.
  auto kernel = [](void **parameters) {
    int32_t *from = parameter<int32_t *>(parameters, 0);
    if (threadId() == 1)
      sparseAutogradEmulateCopyAsync(shared<int32_t>(), from, 4, 4, HERE);
    barrier(HERE);
    sparseAutogradEmulateWaitAll(HERE);
    if (parameter<int32_t>(parameters, 1))
      barrier(HERE);
    if (threadId() == 0)
      load(shared<int32_t>(), HERE);
  };
  Device device;
  int32_t *from = device.allocate(std::vector<int32_t>(2));
  EXPECT_EQ(device.launch(kernel, 1, 2, 4, from, 1), SPARSE_AUTOGRAD_SUCCESS);
  // In the plain order the thread that came last to the barrier goes on first.
  EXPECT_FAULT(device, device.launch(kernel, 1, 2, 4, from, 0),
               SPARSE_AUTOGRAD_EMULATOR_DATA_RACE,
               "thread (0, 0, 0) reads 4 bytes at offset 0 of shared memory, "
               "which thread (1, 0, 0) wrote");
}

TEST(Copy, ThatNobodyWaitsFor) {
  auto kernel = [](void **parameters) {
    char *from = parameter<char *>(parameters, 0);
    sparseAutogradEmulateCopyAsync(shared<char>(), from, 4, 4, HERE);
  };
  Device device;
  char *from = device.allocate(std::vector<char>(16));
  EXPECT_EQ(device.launch(kernel, 2, 1, 64, from), SPARSE_AUTOGRAD_SUCCESS);
}
