//===- RaceTest.cpp - Data races --------------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

constexpr int32_t race = SPARSE_AUTOGRAD_EMULATOR_DATA_RACE;

/// Threads i and i + 1 access the same number, with a barrier between if that
/// is asked for.
template <int32_t firstKind, int32_t secondKind, bool isShared>
static void accessNeighbour(void **parameters) {
  int32_t *numbers =
      isShared ? shared<int32_t>() : parameter<int32_t *>(parameters, 0);
  bool hasBarrier = parameter<int32_t>(parameters, 1);
  if (isShared) {
    store(&numbers[threadId()], 0);
    if (threadId() == 0)
      store(&numbers[64], 0);
    barrier(HERE);
  }
  auto access = [&](int32_t kind, int32_t index, const char *where) {
    if (kind == SPARSE_AUTOGRAD_LOAD)
      load(&numbers[index], where);
    else if (kind == SPARSE_AUTOGRAD_STORE)
      store(&numbers[index], 1, where);
    else
      atomicAdd(&numbers[index], 1, where);
  };
  access(firstKind, threadId(), "first");
  if (hasBarrier)
    barrier(HERE);
  access(secondKind, threadId() + 1, "second");
}

template <int32_t first, int32_t second, bool isShared>
static void testNeighbours(bool isRace) {
  for (uint64_t seed : someSeeds())
    for (int32_t hasBarrier : {0, 1}) {
      Device device(seed);
      int32_t *numbers = device.allocate(std::vector<int32_t>(65));
      int32_t status =
          device.launch(accessNeighbour<first, second, isShared>, 1, 64,
                        isShared ? 260 : 0, numbers, hasBarrier);
      if (hasBarrier || !isRace) {
        EXPECT_EQ(status, SPARSE_AUTOGRAD_SUCCESS) << device.message();
        continue;
      }
      EXPECT_FAULT(device, status, race, "and no barrier is between them");
      EXPECT_THAT(device.message(),
                  testing::HasSubstr(isShared ? "of shared memory, which thread"
                                              : "of a buffer of 260 bytes, "
                                                "which thread"));
    }
}

TEST(Race, ReadsAndWritesOfSharedMemory) {
  constexpr int32_t read = SPARSE_AUTOGRAD_LOAD;
  constexpr int32_t write = SPARSE_AUTOGRAD_STORE;
  constexpr int32_t update = SPARSE_AUTOGRAD_ATOMIC;
  testNeighbours<read, read, true>(false);
  testNeighbours<read, write, true>(true);
  testNeighbours<write, read, true>(true);
  testNeighbours<write, write, true>(true);
  testNeighbours<update, update, true>(false);
  testNeighbours<update, read, true>(true);
  testNeighbours<read, update, true>(true);
  testNeighbours<update, write, true>(true);
  testNeighbours<write, update, true>(true);
}

TEST(Race, ReadsAndWritesOfABuffer) {
  constexpr int32_t read = SPARSE_AUTOGRAD_LOAD;
  constexpr int32_t write = SPARSE_AUTOGRAD_STORE;
  constexpr int32_t update = SPARSE_AUTOGRAD_ATOMIC;
  testNeighbours<read, read, false>(false);
  testNeighbours<read, write, false>(true);
  testNeighbours<write, read, false>(true);
  testNeighbours<write, write, false>(true);
  testNeighbours<update, update, false>(false);
  testNeighbours<update, read, false>(true);
  testNeighbours<read, update, false>(true);
  testNeighbours<update, write, false>(true);
  testNeighbours<write, update, false>(true);
}

TEST(Race, NamesBothPlaces) {
  auto kernel = [](void **parameters) {
    int32_t *number = parameter<int32_t *>(parameters, 0) + 3;
    if (threadId() == 0)
      store(number, 1, "the write");
    else
      load(number, "the read");
  };
  Device device;
  int32_t *numbers = device.allocate(std::vector<int32_t>(4));
  EXPECT_FAULT(
      device, device.launch(kernel, 1, 2, 0, numbers), race,
      "kernel 'k', block (0, 0, 0), thread (1, 0, 0) reads 4 bytes at "
      "offset 12 of a buffer of 16 bytes, which thread (0, 0, 0) wrote "
      "[the write], and no barrier is between them, at [the read] (seed "
      "0)");
}

TEST(Race, BetweenBlocks) {
  auto kernel = [](void **parameters) {
    int32_t *numbers = parameter<int32_t *>(parameters, 0);
    int32_t distance = parameter<int32_t>(parameters, 1);
    int32_t shift = parameter<int32_t>(parameters, 2);
    store(&numbers[(distance * blockId() + shift) % 4], 1, "the write");
    barrier(HERE);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *numbers = device.allocate(std::vector<int32_t>(4));
    EXPECT_EQ(device.launch(kernel, 4, 1, 0, numbers, 1, 0),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    // Launches are ordered.
    EXPECT_EQ(device.launch(kernel, 4, 1, 0, numbers, 1, 1),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_FAULT(device, device.launch(kernel, 4, 1, 0, numbers, 0, 0), race,
                 "wrote [the write], and blocks are not ordered");
    EXPECT_THAT(device.message(),
                testing::HasSubstr("which thread (0, 0, 0) of block ("));
  }
}

TEST(Race, ReadersOfManyBlocksAndAWriter) {
  auto kernel = [](void **parameters) {
    int32_t *numbers = parameter<int32_t *>(parameters, 0);
    if (blockId() == 7 && threadId() == 3)
      store(numbers, 1, HERE);
    else if (threadId() == 2)
      load(numbers, HERE);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *numbers = device.allocate(std::vector<int32_t>(4));
    EXPECT_FAULT(device, device.launch(kernel, 16, 32, 0, numbers), race,
                 "blocks are not ordered");
  }
}

TEST(Race, WarpsAreOrderedBySync) {
  auto kernel = [](void **parameters) {
    int32_t *numbers = shared<int32_t>();
    int32_t hasSync = parameter<int32_t>(parameters, 0);
    int32_t neighbour = threadId() ^ 1;
    for (int32_t i = 0; i < 3; ++i) {
      store(&numbers[threadId()], i, HERE);
      if (hasSync)
        sparseAutogradEmulateWarpSync(UINT32_MAX, HERE);
      else // Shuffles do not order memory.
        shuffle(SPARSE_AUTOGRAD_SHUFFLE_INDEX, UINT32_MAX, 1, 0, 31, HERE);
      load(&numbers[neighbour], HERE);
      if (hasSync)
        sparseAutogradEmulateWarpSync(UINT32_MAX, HERE);
      else
        shuffle(SPARSE_AUTOGRAD_SHUFFLE_INDEX, UINT32_MAX, 1, 0, 31, HERE);
    }
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_EQ(device.launch(kernel, 2, 96, 384, 1), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_FAULT(device, device.launch(kernel, 2, 96, 384, 0), race,
                 "no barrier is between them");
  }
}

TEST(Race, SyncOfAPartOfAWarpOrdersThatPart) {
  auto kernel = [](void **parameters) {
    int32_t reader = parameter<int32_t>(parameters, 0);
    if (threadId() == 0)
      store(shared<int32_t>(), 1, HERE);
    if (threadId() < 4)
      sparseAutogradEmulateWarpSync(0xF, HERE);
    if (threadId() == reader)
      load(shared<int32_t>(), HERE);
  };
  Device device;
  EXPECT_EQ(device.launch(kernel, 1, 32, 4, 3), SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_FAULT(device, device.launch(kernel, 1, 32, 4, 4), race,
               "thread (4, 0, 0) reads");
}

TEST(Race, SyncsOrderWhatIsBehindOthers) {
  // 0 writes; 0 and 1 meet, then 1 and 2, so 2 may read.
  auto kernel = [](void **parameters) {
    int32_t isChain = parameter<int32_t>(parameters, 0);
    if (threadId() == 0)
      store(shared<int32_t>(), 1, HERE);
    if (threadId() <= 1)
      sparseAutogradEmulateWarpSync(3, HERE);
    if (threadId() == 1 || threadId() == 2)
      sparseAutogradEmulateWarpSync(6, HERE);
    if (threadId() == 2 && isChain)
      load(shared<int32_t>(), HERE);
    // But not what 0 writes after that.
    if (threadId() == 0 && !isChain)
      store(shared<int32_t>(), 2, HERE);
    if (threadId() == 2 && !isChain)
      load(shared<int32_t>(), HERE);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_EQ(device.launch(kernel, 1, 3, 4, 1), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_FAULT(device, device.launch(kernel, 1, 3, 4, 0), race, "thread (");
  }
}

TEST(Race, BarriersOfPartsOrderTheseParts) {
  auto kernel = [](void **parameters) {
    int32_t barrierOfReader = parameter<int32_t>(parameters, 0);
    if (threadId() < 32)
      store(&shared<int32_t>()[threadId()], 1, HERE);
    sparseAutogradEmulateBarrier(threadId() < 64 ? 1 : barrierOfReader,
                                 barrierOfReader == 1 ? 96 : 64, 1, HERE);
    if (threadId() >= 64 && threadId() < 96)
      load(&shared<int32_t>()[threadId() - 64], HERE);
  };
  Device device;
  EXPECT_EQ(device.launch(kernel, 1, 96, 128, 1), SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  auto others = [](void **) {
    if (threadId() < 32)
      store(&shared<int32_t>()[threadId()], 1, HERE);
    sparseAutogradEmulateBarrier(threadId() < 64 ? 1 : 2, 64, 1, HERE);
    if (threadId() >= 64 && threadId() < 96)
      load(&shared<int32_t>()[threadId() - 64], HERE);
  };
  EXPECT_FAULT(device, device.launch(others, 1, 128, 128), race,
               "thread (64, 0, 0) reads");
}

TEST(Race, SmallTypesBesideEachOther) {
  // Neighbours of 1 and 2 bytes are other places, and words of them are not.
  auto bytes = [](void **parameters) {
    store(&shared<int8_t>()[threadId()], int8_t(1), HERE);
    store(&parameter<int16_t *>(parameters, 0)[threadId()], int16_t(1), HERE);
    if (parameter<int32_t>(parameters, 1) && threadId() == 9)
      load(parameter<int32_t *>(parameters, 0) + 2, HERE);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int16_t *numbers = device.allocate(std::vector<int16_t>(32));
    EXPECT_EQ(device.launch(bytes, 1, 32, 32, numbers, 0),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_FAULT(device, device.launch(bytes, 1, 32, 32, numbers, 1), race,
                 "thread (");
  }
}

TEST(Race, WhatWasKnownOfWordsIsKnownOfBytes) {
  auto kernel = [](void **parameters) {
    int32_t *numbers = parameter<int32_t *>(parameters, 0);
    if (threadId() == 0)
      store(numbers, 1, HERE);
    else
      store(reinterpret_cast<int8_t *>(numbers) + 3, int8_t(1), HERE);
  };
  Device device;
  int32_t *numbers = device.allocate(std::vector<int32_t>(1));
  EXPECT_FAULT(device, device.launch(kernel, 1, 2, 0, numbers), race,
               "thread (1, 0, 0) writes 1 bytes at offset 3");
}

TEST(Race, TwoOfManyReadersAreEnough) {
  // All threads but one read; the one writes without a barrier.
  auto kernel = [](void **parameters) {
    int32_t writer = parameter<int32_t>(parameters, 0);
    if (threadId() == 0)
      store(shared<int32_t>(), 1, HERE);
    barrier(HERE);
    if (threadId() == writer)
      store(shared<int32_t>(), 2, HERE);
    else
      load(shared<int32_t>(), HERE);
  };
  for (uint64_t seed : someSeeds())
    for (int32_t writer : {0, 1, 31, 32, 95}) {
      Device device(seed);
      EXPECT_FAULT(device, device.launch(kernel, 1, 96, 4, writer), race,
                   "thread (");
    }
}

TEST(Race, ReadersOfDifferentWarpsAreRemembered) {
  // Two threads of the first warp read, and one of the second. What is written
  // after the first warp has met races with the last one only.
  auto kernel = [](void **parameters) {
    int32_t *flag = parameter<int32_t *>(parameters, 0);
    int32_t *number = flag + 1;
    bool isLast = parameter<int32_t>(parameters, 1);
    if (threadId() < 2 || (threadId() == 32 && isLast))
      load(number, HERE);
    if (threadId() == 32)
      atomicAdd(flag, 1);
    if (threadId() < 32)
      sparseAutogradEmulateWarpSync(UINT32_MAX, HERE);
    // The flag orders nothing, but it makes this the last access.
    if (threadId() == 0) {
      while (atomicAdd(flag, 0) == 0)
        ;
      store(number, 1, "the write");
    }
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *numbers = device.allocate(std::vector<int32_t>(2));
    EXPECT_EQ(device.launch(kernel, 1, 64, 0, numbers, 0),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    numbers[0] = 0;
    EXPECT_FAULT(device, device.launch(kernel, 1, 64, 0, numbers, 1), race,
                 "which thread (32, 0, 0) read");
  }
}

TEST(Race, NotLookedFor) {
  auto kernel = [](void **parameters) {
    store(parameter<int32_t *>(parameters, 0), threadId(), HERE);
  };
  SparseAutogradEmulatorOptions options = withSeed(0);
  options.detectRaces = 0;
  Device device(options);
  int32_t *number = device.allocate(std::vector<int32_t>(1));
  EXPECT_EQ(device.launch(kernel, 2, 32, 0, number), SPARSE_AUTOGRAD_SUCCESS);
}
