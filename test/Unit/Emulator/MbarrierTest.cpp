//===- MbarrierTest.cpp - Barriers in shared memory -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

/// The object, at the begin of shared memory.
static void *object() { return sparseAutogradEmulateSharedMemory(); }
static uint64_t arrive(int32_t count = 1, int32_t flags = 0) {
  return sparseAutogradEmulateMbarrierArrive(object(), count, 0, flags,
                                             "the arrival");
}
static uint64_t expectBytes(int32_t bytes) {
  return sparseAutogradEmulateMbarrierArrive(
      object(), 1, bytes, SPARSE_AUTOGRAD_ARRIVAL_EXPECTS_BYTES, "the arrival");
}
static bool test(uint64_t state, int32_t flags = 0) {
  return sparseAutogradEmulateMbarrierWait(object(), state, flags, "the test");
}
static void waitForParity(uint64_t parity) {
  while (!test(parity,
               SPARSE_AUTOGRAD_WAIT_FOR_PARITY | SPARSE_AUTOGRAD_WAIT_BLOCKS))
    ;
}
/// Initialised by one thread, for all of a block.
static void initialize(int32_t count) {
  if (threadId() == 0)
    sparseAutogradEmulateMbarrierInit(object(), count, "the begin");
  barrier(HERE);
}

/// Expects that a kernel of so many threads fails.
#define EXPECT_FAULT_OF(kernel, threads, fault, text)                          \
  for (uint64_t seed : someSeeds()) {                                          \
    Device device(seed);                                                       \
    int32_t *out = device.allocate(std::vector<int32_t>(256));                 \
    EXPECT_FAULT(device, device.launch(kernel, 1, threads, 4096, out), fault,  \
                 text);                                                        \
  }

TEST(Mbarrier, OrdersWhatCameBeforeArrivals) {
  // By a parity, a state, and by tests that do not block; in several phases.
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    int32_t kind = parameter<int32_t>(parameters, 1);
    int32_t *numbers = shared<int32_t>() + 4;
    initialize(64);
    int32_t sum = 0;
    for (uint64_t round = 0; round < 3; ++round) {
      // Two buffers in turn: who writes the next round has waited for this one.
      int32_t *buffer = numbers + 64 * (round % 2);
      store(&buffer[threadId()], threadId() + int32_t(round));
      uint64_t state = arrive();
      if (kind == 0)
        waitForParity(round % 2);
      else if (kind == 1)
        while (!test(state))
          ;
      else
        while (!test(round % 2, SPARSE_AUTOGRAD_WAIT_FOR_PARITY))
          ;
      sum += load(&buffer[63 - threadId()]);
    }
    store(&out[threadId()], sum);
  };
  for (uint64_t seed : someSeeds())
    for (int32_t kind : {0, 1, 2}) {
      Device device(seed);
      int32_t *out = device.allocate(std::vector<int32_t>(64));
      ASSERT_EQ(device.launch(kernel, 1, 64, 1024, out, kind),
                SPARSE_AUTOGRAD_SUCCESS)
          << device.message();
      for (int32_t i = 0; i < 64; ++i)
        EXPECT_EQ(out[i], 3 * (63 - i) + 3);
    }
}

TEST(Mbarrier, ProducersAndConsumers) {
  // A ring of three buffers between two warps, with a barrier for full and one
  // for empty ones each.
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    constexpr int32_t stages = 3, rounds = 10;
    uint64_t *objects = shared<uint64_t>();
    int32_t *buffers = shared<int32_t>() + 4 * stages;
    if (threadId() < 2 * stages)
      sparseAutogradEmulateMbarrierInit(&objects[threadId()], 32, HERE);
    barrier(HERE);
    int32_t lane = threadId() % 32;
    bool isProducer = threadId() < 32;
    int32_t sum = 0;
    for (int32_t round = 0; round < rounds; ++round) {
      uint64_t *full = &objects[2 * (round % stages)];
      uint64_t *empty = full + 1;
      int32_t *buffer = buffers + 32 * (round % stages);
      uint64_t parity = round / stages % 2;
      // The first wait for an empty buffer is for the phase before the first.
      while (!sparseAutogradEmulateMbarrierWait(
          isProducer ? empty : full, isProducer ? parity ^ 1 : parity,
          SPARSE_AUTOGRAD_WAIT_FOR_PARITY | SPARSE_AUTOGRAD_WAIT_BLOCKS, HERE))
        ;
      if (isProducer)
        store(&buffer[lane], 100 * round + lane);
      else
        sum += load(&buffer[31 - lane]);
      sparseAutogradEmulateMbarrierArrive(isProducer ? full : empty, 1, 0, 0,
                                          HERE);
    }
    if (!isProducer)
      store(&out[lane], sum);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *out = device.allocate(std::vector<int32_t>(32));
    ASSERT_EQ(device.launch(kernel, 1, 64, 1024, out), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int32_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 4500 + 10 * (31 - i));
  }
}

TEST(Mbarrier, OrdersNothingElse) {
  // Thread 1 writes after its arrival, or arrives without release.
  auto late = [](void **) {
    initialize(2);
    if (threadId() == 1) {
      arrive();
      store(shared<int32_t>() + 4, 1);
    } else {
      arrive();
      waitForParity(0);
      store(shared<int32_t>() + 4, 2, "the write");
    }
  };
  Device device;
  EXPECT_FAULT(device, device.launch(late, 1, 2, 64),
               SPARSE_AUTOGRAD_EMULATOR_DATA_RACE, "at [the write]");
  auto race = [](void **parameters) {
    int32_t flags = parameter<int32_t>(parameters, 0);
    initialize(2);
    if (threadId() == 1) {
      store(shared<int32_t>() + 4, 1);
      arrive(1, flags);
    } else {
      arrive();
      while (
          !test(0, SPARSE_AUTOGRAD_WAIT_FOR_PARITY |
                       (flags ? 0 : int32_t(SPARSE_AUTOGRAD_WAIT_IS_RELAXED))))
        ;
      load(shared<int32_t>() + 4, "the read");
    }
  };
  for (int32_t flags : {0, int32_t(SPARSE_AUTOGRAD_ARRIVAL_IS_RELAXED)})
    EXPECT_FAULT(device, device.launch(race, 1, 2, 64, flags),
                 SPARSE_AUTOGRAD_EMULATOR_DATA_RACE, "at [the read]");
}

TEST(Mbarrier, CountsArrivalsAndBytes) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    sparseAutogradEmulateMbarrierInit(object(), 5, HERE);
    uint64_t first = arrive(3, SPARSE_AUTOGRAD_ARRIVAL_MUST_NOT_COMPLETE);
    store(&out[0], sparseAutogradEmulateMbarrierPendingCount(first));
    uint64_t second = expectBytes(100);
    store(&out[1], sparseAutogradEmulateMbarrierPendingCount(second));
    // Later phases expect four arrivals.
    arrive(1, SPARSE_AUTOGRAD_ARRIVAL_DROPS);
    store(&out[2], int32_t(test(second)));
    sparseAutogradEmulateMbarrierExpect(object(), 20, HERE);
    sparseAutogradEmulateMbarrierComplete(object(), 70, HERE);
    store(&out[3], int32_t(test(second)));
    sparseAutogradEmulateMbarrierComplete(object(), 50, HERE);
    store(&out[4], int32_t(test(second)));
    store(&out[5], int32_t(test(0, SPARSE_AUTOGRAD_WAIT_FOR_PARITY)));
    store(&out[6], int32_t(test(1, SPARSE_AUTOGRAD_WAIT_FOR_PARITY)));
    uint64_t third = arrive(4);
    store(&out[7], sparseAutogradEmulateMbarrierPendingCount(third));
    store(&out[8], int32_t(test(third)));
    // An object that is invalid is memory like any other, and can be one again.
    sparseAutogradEmulateMbarrierInvalidate(object(), HERE);
    store(shared<int32_t>(), 7);
    store(&out[9], load(shared<int32_t>()));
    sparseAutogradEmulateMbarrierInit(object(), 1, HERE);
    store(&out[10], int32_t(test(0, SPARSE_AUTOGRAD_WAIT_FOR_PARITY)));
  };
  Device device;
  int32_t *out = device.allocate(std::vector<int32_t>(11));
  ASSERT_EQ(device.launch(kernel, 1, 1, 64, out), SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_THAT(std::vector<int32_t>(out, out + 11),
              testing::ElementsAre(5, 2, 0, 0, 1, 1, 0, 4, 1, 7, 0));
}

TEST(Mbarrier, MustBeInitialisedOnce) {
  EXPECT_FAULT_OF([](void **) { arrive(); }, 1,
                  SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
                  "block (0, 0, 0), thread (0, 0, 0) executes mbarrier.arrive "
                  "at offset 0 of shared memory, where no mbarrier has been "
                  "initialised, at [the arrival]");
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(1);
        if (threadId() == 1)
          sparseAutogradEmulateMbarrierInit(object(), 1, "the second");
      },
      2, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
      "thread (1, 0, 0) initialises the mbarrier at offset 0 of shared memory "
      "again, which was initialised [the begin] and not invalidated since, at "
      "[the second]");
  EXPECT_FAULT_OF(
      [](void **) {
        sparseAutogradEmulateMbarrierInit(object(), 1, HERE);
        sparseAutogradEmulateMbarrierInvalidate(object(), HERE);
        arrive();
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, "no mbarrier");
  EXPECT_FAULT_OF(
      [](void **) {
        sparseAutogradEmulateMbarrierInit(shared<char>() + 4, 1, HERE);
      },
      1, SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, "not aligned to 8 bytes");
  EXPECT_FAULT_OF(
      [](void **) {
        sparseAutogradEmulateMbarrierInit(shared<char>() + 4096, 1, HERE);
      },
      1, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, "at offset 4096");
  EXPECT_FAULT_OF(
      [](void **) { sparseAutogradEmulateMbarrierInit(object(), 0, HERE); }, 1,
      SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, "for 0 arrivals");
  // Nobody knows that it was initialised: whichever comes first.
  auto early = [](void **) {
    if (threadId() == 0)
      sparseAutogradEmulateMbarrierInit(object(), 2, HERE);
    arrive();
  };
  Device device;
  EXPECT_FAULT(device, device.launch(early, 1, 2, 64),
               SPARSE_AUTOGRAD_EMULATOR_DATA_RACE, "thread (1, 0, 0)");
}

TEST(Mbarrier, IsInvalidatedWhenNobodyNeedsIt) {
  auto waits = [](void **) {
    initialize(2);
    if (threadId() == 0)
      waitForParity(0);
    // The other thread comes to its wait.
    test(0, SPARSE_AUTOGRAD_WAIT_FOR_PARITY);
    sparseAutogradEmulateMbarrierInvalidate(object(), "the end");
  };
  Device device;
  EXPECT_FAULT(
      device, device.launch(waits, 1, 2, 64),
      SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
      "thread (1, 0, 0) invalidates the mbarrier at offset 0 of shared "
      "memory, but thread (0, 0, 0) waits in mbarrier.try_wait for "
      "phase 0 of the mbarrier at offset 0 of shared memory [the test], "
      "at [the end]");
  auto arrives = [](void **) {
    initialize(1);
    sparseAutogradEmulateCopyArrive(object(), 1, "the arrival");
    sparseAutogradEmulateMbarrierInvalidate(object(), HERE);
  };
  EXPECT_FAULT(device, device.launch(arrives, 1, 1, 64),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
               "has asked for cp.async.mbarrier.arrive at the mbarrier at "
               "offset 0 of shared memory, which was invalidated before that "
               "was done, at [the arrival]");
}

TEST(Mbarrier, IsNoOrdinaryMemory) {
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(1);
        load(shared<int32_t>() + 1, "the read");
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
      "reads 4 bytes at offset 4 of shared memory, where an mbarrier is");
}

TEST(Mbarrier, CountsMustFit) {
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(1);
        expectBytes(16);
        arrive();
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
      "arrives 1 times at the mbarrier at offset 0 of shared memory with "
      "mbarrier.arrive, of which phase 0 has 0 of 1 arrivals and 16 bytes to "
      "come");
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(2);
        expectBytes(16);
        sparseAutogradEmulateMbarrierComplete(object(), 32, HERE);
        arrive();
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
      "completes 16 bytes more than phase 0 of the mbarrier");
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(2);
        expectBytes(1 << 20);
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, "expect 1048576 bytes");
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(1);
        arrive(1, SPARSE_AUTOGRAD_ARRIVAL_MUST_NOT_COMPLETE);
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, "which must not");
  EXPECT_FAULT_OF(
      [](void **) {
        initialize((1 << 20) - 1);
        sparseAutogradEmulateCopyArrive(object(), 0, HERE);
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
      "has an mbarrier expect more than 1048575 arrivals");
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(1);
        arrive(0);
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
      "executes mbarrier.arrive with 0 arrivals and 0 bytes");
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(1);
        uint64_t state = arrive();
        arrive();
        test(state);
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, "with a state of phase 0");
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(1);
        test(2, SPARSE_AUTOGRAD_WAIT_FOR_PARITY);
      },
      1, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, "the parity 2");
}

TEST(Mbarrier, WhoComputesLongIsWaitedFor) {
  // A loop that accesses nothing, or only waits for copies, while the other
  // thread tests again and again.
  auto kernel = [](void **parameters) {
    bool copies = parameter<int32_t>(parameters, 0) != 0;
    initialize(1);
    if (threadId() == 0)
      while (!test(0, SPARSE_AUTOGRAD_WAIT_FOR_PARITY))
        ;
    for (int32_t i = 0; i < 50000 && threadId() == 1; ++i)
      if (copies)
        sparseAutogradEmulateWaitAll(HERE);
      else
        sparseAutogradEmulateStep(HERE);
    if (threadId() == 1)
      arrive();
  };
  for (uint64_t seed : someSeeds())
    for (int32_t copies : {0, 1}) {
      Device device(seed);
      EXPECT_EQ(device.launch(kernel, 1, 2, 64, copies),
                SPARSE_AUTOGRAD_SUCCESS)
          << device.message();
    }
}

TEST(Mbarrier, WhoWaitsForeverIsNamed) {
  // Bytes that nobody sends.
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(1);
        if (threadId() == 0)
          expectBytes(128);
        waitForParity(0);
      },
      2, SPARSE_AUTOGRAD_EMULATOR_HANG,
      "which is in phase 0 with 0 of 1 arrivals and 128 bytes to come, and no "
      "thread can run, at [the test]");
  // An arrival too few; others wait at a barrier behind it.
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(64);
        if (threadId() != 7)
          arrive();
        if (threadId() == 40)
          waitForParity(0);
        barrier(HERE);
      },
      64, SPARSE_AUTOGRAD_EMULATOR_HANG,
      "thread (40, 0, 0) waits in mbarrier.try_wait for phase 0 of the "
      "mbarrier "
      "at offset 0 of shared memory, which is in phase 0 with 1 of 64 "
      "arrivals");
  // A loop of tests that do not block, with a sleep in between.
  EXPECT_FAULT_OF(
      [](void **) {
        initialize(3);
        uint64_t state = arrive();
        while (!test(state))
          sparseAutogradEmulateStep(HERE);
      },
      2, SPARSE_AUTOGRAD_EMULATOR_HANG,
      "tests the mbarrier at offset 0 of shared memory, which is in phase 0 "
      "with 1 of 3 arrivals");
}

/// Each thread copies, and arrives when its copies are done.
static void copyAndArrive(void **parameters) {
  int32_t *from = parameter<int32_t *>(parameters, 0);
  int32_t *out = parameter<int32_t *>(parameters, 1);
  int32_t isCounted = parameter<int32_t>(parameters, 2);
  int32_t mistake = parameter<int32_t>(parameters, 3);
  int32_t *numbers = shared<int32_t>() + 4;
  initialize(32);
  sparseAutogradEmulateCopyAsync(numbers + 4 * threadId(),
                                 from + 4 * threadId(), 16, 16, "the copy");
  sparseAutogradEmulateCopyArrive(object(), isCounted, "the arrival");
  if (!isCounted)
    arrive();
  if (mistake == 0 || (mistake == 2 && threadId() != 5))
    waitForParity(0);
  int32_t from1 = load(&numbers[4 * (threadId() ^ 1)], "the read");
  store(&out[threadId()], from1);
}

TEST(Mbarrier, CopiesArrive) {
  for (uint64_t seed : someSeeds())
    for (int32_t isCounted : {0, 1}) {
      Device device(seed);
      std::vector<int32_t> numbers(128);
      for (int32_t i = 0; i < 128; ++i)
        numbers[i] = i;
      int32_t *from = device.allocate(numbers);
      int32_t *out = device.allocate(std::vector<int32_t>(32));
      ASSERT_EQ(
          device.launch(copyAndArrive, 1, 32, 1024, from, out, isCounted, 0),
          SPARSE_AUTOGRAD_SUCCESS)
          << device.message();
      for (int32_t i = 0; i < 32; ++i)
        EXPECT_EQ(out[i], 4 * (i ^ 1));
      // Nobody waits: what is read is uninitialised, or on its way.
      EXPECT_NE(
          device.launch(copyAndArrive, 1, 32, 1024, from, out, isCounted, 1),
          SPARSE_AUTOGRAD_SUCCESS);
      EXPECT_THAT(
          device.report().fault,
          testing::AnyOf(int32_t(SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED),
                         int32_t(SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY)));
      // One thread does not wait. In the plain order it comes too early; it
      // may also come when others have waited.
      EXPECT_NE(
          device.launch(copyAndArrive, 1, 32, 1024, from, out, isCounted, 2),
          SPARSE_AUTOGRAD_SUCCESS);
      EXPECT_THAT(device.message(),
                  testing::HasSubstr("thread (5, 0, 0) reads"));
    }
}

TEST(Mbarrier, AThreadThatDoesNotWaitKnowsNothing) {
  // Thread 0 waits, thread 1 reads after that without knowing.
  auto kernel = [](void **parameters) {
    int32_t *from = parameter<int32_t *>(parameters, 0);
    int32_t *flag = parameter<int32_t *>(parameters, 1);
    initialize(1);
    if (threadId() == 0) {
      sparseAutogradEmulateCopyAsync(shared<int32_t>() + 4, from, 16, 16,
                                     "the copy");
      sparseAutogradEmulateCopyArrive(object(), 1, HERE);
      waitForParity(0);
      atomicAdd(flag, 1);
    } else {
      while (atomicAdd(flag, 0) == 0)
        ;
      load(shared<int32_t>() + 4, "the read");
    }
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *from = device.allocate(std::vector<int32_t>(4));
    int32_t *flag = device.allocate(std::vector<int32_t>(1));
    EXPECT_FAULT(
        device, device.launch(kernel, 1, 2, 64, from, flag),
        SPARSE_AUTOGRAD_EMULATOR_DATA_RACE,
        "thread (1, 0, 0) reads 4 bytes at offset 16 of shared memory, "
        "which an asynchronous copy wrote [the copy], and this thread "
        "has not waited for its mbarrier");
  }
}
