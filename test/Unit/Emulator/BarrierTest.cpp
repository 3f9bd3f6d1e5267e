//===- BarrierTest.cpp - Barriers of a block --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

/// Each thread reads what its neighbour wrote before the barrier.
static void rotate(void **parameters) {
  int32_t *out = parameter<int32_t *>(parameters, 0);
  int32_t *numbers = shared<int32_t>();
  int32_t count = static_cast<int32_t>(
      sparseAutogradEmulateRegister(SPARSE_AUTOGRAD_NTID_X));
  store(&numbers[threadId()], 10 * threadId());
  barrier(HERE);
  store(&out[threadId()], load(&numbers[(threadId() + 1) % count]));
}

TEST(Barrier, OrdersAllThreads) {
  for (uint64_t seed : someSeeds())
    for (int32_t threads : {1, 31, 32, 33, 64, 100, 1024}) {
      Device device(seed);
      int32_t *out = device.allocate(std::vector<int32_t>(threads));
      ASSERT_EQ(device.launch(rotate, 1, threads, 4 * threads, out),
                SPARSE_AUTOGRAD_SUCCESS)
          << device.message();
      for (int32_t i = 0; i < threads; ++i)
        ASSERT_EQ(out[i], 10 * ((i + 1) % threads));
    }
}

TEST(Barrier, ManyTimes) {
  // A tree: half of the threads add in each round.
  auto sum = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    int32_t *numbers = shared<int32_t>();
    store(&numbers[threadId()], threadId());
    for (int32_t stride = 128; stride > 0; stride /= 2) {
      barrier(HERE);
      if (threadId() < stride)
        store(&numbers[threadId()],
              load(&numbers[threadId()]) + load(&numbers[threadId() + stride]));
    }
    if (threadId() == 0)
      store(out, load(&numbers[0]));
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *out = device.allocate(std::vector<int32_t>(1));
    ASSERT_EQ(device.launch(sum, 1, 256, 1024, out), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_EQ(*out, 255 * 256 / 2);
  }
}

TEST(Barrier, Reductions) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    int32_t isThird = threadId() % 3 == 0;
    int32_t results[3];
    int32_t operations[] = {SPARSE_AUTOGRAD_REDUCE_ADD,
                            SPARSE_AUTOGRAD_REDUCE_AND,
                            SPARSE_AUTOGRAD_REDUCE_OR};
    for (int i = 0; i < 3; ++i)
      results[i] = sparseAutogradEmulateBarrierReduce(0, -1, isThird,
                                                      operations[i], 1, HERE);
    int32_t all =
        sparseAutogradEmulateBarrierReduce(1, -1, 7, operations[1], 1, HERE);
    int32_t none =
        sparseAutogradEmulateBarrierReduce(1, -1, 0, operations[2], 1, HERE);
    store(&out[threadId()], results[0] * 10000 + results[1] * 1000 +
                                results[2] * 100 + all * 10 + none);
  };
  Device device(3);
  int32_t *out = device.allocate(std::vector<int32_t>(64));
  ASSERT_EQ(device.launch(kernel, 1, 64, 0, out), SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  for (int32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 22 * 10000 + 0 + 100 + 10);
}

TEST(Barrier, OfPartsOfABlock) {
  // The first two warps meet at barrier 1, the others at barrier 2, twice as
  // often.
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    int32_t *numbers = shared<int32_t>();
    int32_t half = threadId() / 64;
    for (int32_t round = 0; round <= half; ++round) {
      store(&numbers[threadId()], threadId() + round);
      sparseAutogradEmulateBarrier(1 + half, 64, 1, HERE);
      store(&out[threadId()], load(&numbers[threadId() ^ 63]));
      sparseAutogradEmulateBarrier(1 + half, 64, 1, HERE);
    }
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *out = device.allocate(std::vector<int32_t>(128));
    ASSERT_EQ(device.launch(kernel, 1, 128, 512, out), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int32_t i = 0; i < 128; ++i)
      EXPECT_EQ(out[i], (i ^ 63) + i / 64);
  }
}

TEST(Barrier, ProducersDoNotWait) {
  // Warp 0 writes and arrives, warp 1 waits and reads.
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    int32_t *numbers = shared<int32_t>();
    if (threadId() < 32) {
      store(&numbers[threadId()], threadId() + 5);
      sparseAutogradEmulateBarrierArrive(3, 64, 1, HERE);
    } else {
      sparseAutogradEmulateBarrier(3, 64, 1, HERE);
      store(&out[threadId() - 32], load(&numbers[threadId() - 32]));
    }
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *out = device.allocate(std::vector<int32_t>(32));
    ASSERT_EQ(device.launch(kernel, 1, 64, 128, out), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int32_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], i + 5);
  }
}

TEST(Barrier, ThreadsThatEndedAreMissing) {
  auto kernel = [](void **) {
    if (threadId() < 96)
      barrier("the barrier");
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_FAULT(device, device.launch(kernel, 2, 128, 0),
                 SPARSE_AUTOGRAD_EMULATOR_MISSING_AT_BARRIER,
                 "waits in barrier.cta.sync of barrier 0, at which 96 of 128 "
                 "threads have arrived, but thread (96, 0, 0) has ended, at "
                 "[the barrier] (seed " +
                     std::to_string(seed) + ")");
    EXPECT_EQ(device.report().status, SPARSE_AUTOGRAD_RUNTIME_ERROR);
    EXPECT_EQ(device.report().seed, seed);
  }
}

TEST(Barrier, ThreadsThatWaitElsewhereAreMissing) {
  auto kernel = [](void **) {
    // No thread of a warp is at another place, but each warp is alone.
    sparseAutogradEmulateBarrier(threadId() / 32, -1, 1,
                                 threadId() / 32 ? "second" : "first");
  };
  Device device;
  EXPECT_FAULT(device, device.launch(kernel, 1, 64, 0),
               SPARSE_AUTOGRAD_EMULATOR_MISSING_AT_BARRIER,
               "kernel 'k', block (0, 0, 0), thread (0, 0, 0) waits in "
               "barrier.cta.sync of barrier 0, at which 32 of 64 threads have "
               "arrived, but thread (32, 0, 0) waits in barrier.cta.sync of "
               "barrier 1 [second], at [first] (seed 0)");
}

TEST(Barrier, Divergent) {
  auto kernel = [](void **) {
    if (threadId() % 2)
      barrier("odd threads");
    else
      barrier("even threads");
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_FAULT(device, device.launch(kernel, 1, 64, 0),
                 SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_BARRIER,
                 "executes barrier.cta.sync, which all threads of a warp must "
                 "do at the same place, but thread (");
  }
}

TEST(Barrier, DivergentButNotAligned) {
  auto kernel = [](void **) {
    if (threadId() % 2)
      sparseAutogradEmulateBarrier(0, -1, 0, "odd threads");
    else
      sparseAutogradEmulateBarrier(0, -1, 0, "even threads");
  };
  Device device;
  EXPECT_EQ(device.launch(kernel, 1, 64, 0), SPARSE_AUTOGRAD_SUCCESS);
}

TEST(Barrier, DifferentPlacesInDifferentWarps) {
  auto kernel = [](void **) {
    if (threadId() < 32)
      barrier("first warp");
    else
      barrier("second warp");
  };
  Device device;
  EXPECT_EQ(device.launch(kernel, 1, 64, 0), SPARSE_AUTOGRAD_SUCCESS);
}

TEST(Barrier, InvalidOperands) {
  Device device;
  constexpr int32_t fault = SPARSE_AUTOGRAD_EMULATOR_INVALID_BARRIER;
  auto kernel = [](void **parameters) {
    sparseAutogradEmulateBarrier(parameter<int32_t>(parameters, 0),
                                 parameter<int32_t>(parameters, 1), 1, HERE);
  };
  EXPECT_FAULT(device, device.launch(kernel, 1, 64, 0, 16, -1), fault,
               "with barrier 16: there are 0 to 15");
  EXPECT_FAULT(device, device.launch(kernel, 1, 64, 0, -1, -1), fault,
               "with barrier -1");
  EXPECT_FAULT(device, device.launch(kernel, 1, 64, 0, 1, 33), fault,
               "a count of 33 threads, which is no positive multiple of 32");
  EXPECT_FAULT(device, device.launch(kernel, 1, 64, 0, 1, 0), fault,
               "a count of 0 threads");
  EXPECT_FAULT(device, device.launch(kernel, 1, 64, 0, 1, 96), fault,
               "a count of 96 threads: the block has 64");
  EXPECT_EQ(device.launch(kernel, 1, 64, 0, 15, 64), SPARSE_AUTOGRAD_SUCCESS);

  auto differ = [](void **) {
    sparseAutogradEmulateBarrier(1, threadId() < 32 ? 32 * 2 : 32 * 3, 1, HERE);
  };
  EXPECT_FAULT(device, device.launch(differ, 1, 96, 0), fault,
               "with a count of 96 threads, but others have with a count of "
               "64");
  auto twice = [](void **) {
    sparseAutogradEmulateBarrierArrive(1, 64, 1, HERE);
    sparseAutogradEmulateBarrierArrive(1, 64, 1, HERE);
  };
  EXPECT_FAULT(device, device.launch(twice, 1, 64, 0), fault,
               "at which it has arrived already");
  auto mixed = [](void **) {
    if (threadId() < 32)
      sparseAutogradEmulateBarrier(1, -1, 1, HERE);
    else
      sparseAutogradEmulateBarrierReduce(1, -1, 1, SPARSE_AUTOGRAD_REDUCE_OR, 1,
                                         HERE);
  };
  EXPECT_FAULT(device, device.launch(mixed, 1, 64, 0), fault,
               "others wait there in another reduction");
}
