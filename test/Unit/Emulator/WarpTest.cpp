//===- WarpTest.cpp - Collective operations of a warp -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <optional>

constexpr uint32_t all = UINT32_MAX;

TEST(Warp, SumByButterfly) {
  auto kernel = [](void **parameters) {
    float *out = parameter<float *>(parameters, 0);
    float sum = static_cast<float>(threadId());
    for (uint32_t offset = 16; offset; offset /= 2)
      sum += shuffle(SPARSE_AUTOGRAD_SHUFFLE_BUTTERFLY, all, sum, offset, 31,
                     HERE);
    store(&out[threadId()], sum);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    float *out = device.allocate(std::vector<float>(96));
    ASSERT_EQ(device.launch(kernel, 1, 96, 0, out), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int i = 0; i < 96; ++i)
      EXPECT_EQ(out[i], 496 + i / 32 * 1024);
  }
}

namespace {
struct ShuffleCase {
  int32_t kind;
  uint32_t lane;
  uint32_t clamp;
};
} // namespace

/// The lane that is read, as CUDA's __shfl_*_sync with a width describe it: of
/// segments of `width` lanes.
static std::optional<int> getExpected(int32_t kind, int lane, int operand,
                                      int width) {
  int begin = lane / width * width;
  int source = kind == SPARSE_AUTOGRAD_SHUFFLE_UP     ? lane - operand
               : kind == SPARSE_AUTOGRAD_SHUFFLE_DOWN ? lane + operand
               : kind == SPARSE_AUTOGRAD_SHUFFLE_BUTTERFLY
                   ? lane ^ operand
                   : begin + operand % width;
  if (kind == SPARSE_AUTOGRAD_SHUFFLE_UP && source < begin)
    return std::nullopt;
  // Butterflies may reach into lower segments, but not into higher ones.
  if (source >= begin + width)
    return std::nullopt;
  return source;
}

TEST(Warp, ShufflesOfEveryKind) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    auto shuffle = parameter<ShuffleCase>(parameters, 1);
    int32_t isInRange = -1;
    uint32_t value = sparseAutogradEmulateShuffle(
        shuffle.kind, all, 100 + threadId(), shuffle.lane, shuffle.clamp,
        &isInRange, HERE);
    store(&out[2 * threadId()], int32_t(value));
    store(&out[2 * threadId() + 1], isInRange);
  };
  Device device;
  int32_t *out = device.allocate(std::vector<int32_t>(64));
  for (int32_t kind = 0; kind < 4; ++kind)
    for (uint32_t operand : {0, 1, 2, 5, 16, 31})
      for (uint32_t width : {32, 16, 8, 4}) {
        uint32_t clamp =
            (32 - width) << 8 | (kind == SPARSE_AUTOGRAD_SHUFFLE_UP ? 0 : 31);
        ShuffleCase shuffle = {kind, operand, clamp};
        ASSERT_EQ(device.launch(kernel, 1, 32, 0, out, shuffle),
                  SPARSE_AUTOGRAD_SUCCESS)
            << device.message();
        for (int lane = 0; lane < 32; ++lane) {
          std::optional<int> source = getExpected(kind, lane, operand, width);
          EXPECT_EQ(out[2 * lane + 1], source.has_value());
          EXPECT_EQ(out[2 * lane], 100 + source.value_or(lane))
              << kind << " " << lane << " " << operand << " " << width;
        }
      }
}

TEST(Warp, PartsOfAWarp) {
  // Even and odd lanes each do their own, as often as they like.
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    bool isOdd = threadId() % 2;
    uint32_t mask = isOdd ? 0xAAAAAAAA : 0x55555555;
    int32_t sum = 0;
    for (int32_t i = 0; i < (isOdd ? 3 : 5); ++i)
      sum += int32_t(sparseAutogradEmulateReduce(
          SPARSE_AUTOGRAD_REDUCE_ADD, mask, uint32_t(threadId()), HERE));
    store(&out[threadId()], sum);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *out = device.allocate(std::vector<int32_t>(32));
    ASSERT_EQ(device.launch(kernel, 1, 32, 0, out), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], i % 2 ? 3 * 256 : 5 * 240);
  }
}

TEST(Warp, ABlockThatIsNoMultipleOfAWarp) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    store(&out[threadId()], int32_t(sparseAutogradEmulateReduce(
                                SPARSE_AUTOGRAD_REDUCE_ADD, all, 1, HERE)));
  };
  Device device;
  int32_t *out = device.allocate(std::vector<int32_t>(40));
  ASSERT_EQ(device.launch(kernel, 1, 40, 0, out), SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_EQ(out[0], 32);
  EXPECT_EQ(out[39], 8);
}

TEST(Warp, ThreadsThatEndedAreNotWaitedFor) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    if (threadId() < 8)
      return;
    store(&out[threadId()], int32_t(sparseAutogradEmulateReduce(
                                SPARSE_AUTOGRAD_REDUCE_ADD, all, 1, HERE)));
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *out = device.allocate(std::vector<int32_t>(32));
    ASSERT_EQ(device.launch(kernel, 1, 32, 0, out), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_EQ(out[8], 24);
    EXPECT_EQ(out[31], 24);
  }
}

TEST(Warp, Reductions) {
  auto kernel = [](void **parameters) {
    uint32_t *out = parameter<uint32_t *>(parameters, 0);
    int32_t operation = parameter<int32_t>(parameters, 1);
    uint32_t value = uint32_t(threadId() * 77 - 1000);
    uint32_t result = sparseAutogradEmulateReduce(operation, all, value, HERE);
    if (threadId() == 5)
      store(out, result);
  };
  Device device;
  uint32_t *out = device.allocate(std::vector<uint32_t>(1));
  for (int32_t operation = 0; operation < 8; ++operation) {
    ASSERT_EQ(device.launch(kernel, 1, 32, 0, out, operation),
              SPARSE_AUTOGRAD_SUCCESS);
    uint32_t sum = 0, conjunction = all, disjunction = 0, parity = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      uint32_t value = i * 77 - 1000;
      sum += value;
      conjunction &= value;
      disjunction |= value;
      parity ^= value;
    }
    uint32_t expected[] = {sum,
                           uint32_t(-1000),
                           31 * 77 - 1000,
                           12,
                           uint32_t(-1000 + 77 * 12),
                           conjunction,
                           disjunction,
                           parity};
    // As unsigned numbers, those from -1000 are the greatest: -1 is not hit.
    expected[3] = 77 * 13 - 1000;
    EXPECT_EQ(*out, expected[operation]) << operation;
  }
}

TEST(Warp, Votes) {
  auto kernel = [](void **parameters) {
    uint32_t *out = parameter<uint32_t *>(parameters, 0);
    uint32_t ones = parameter<uint32_t>(parameters, 1);
    uint32_t mask = parameter<uint32_t>(parameters, 2);
    if (!(mask >> threadId() & 1))
      return;
    for (int32_t kind = 0; kind < 4; ++kind)
      store(
          &out[4 * threadId() + kind],
          sparseAutogradEmulateVote(kind, mask, ones >> threadId() & 1, HERE));
  };
  Device device(2);
  uint32_t *out = device.allocate(std::vector<uint32_t>(128));
  for (uint32_t mask : {all, 0xFFFFu, 0x00F0F000u})
    for (uint32_t ones : {all, 0u, 1u << 13, 0xF0F0u}) {
      ASSERT_EQ(device.launch(kernel, 1, 32, 0, out, ones, mask),
                SPARSE_AUTOGRAD_SUCCESS)
          << device.message();
      uint32_t ballot = ones & mask;
      for (int lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1))
          continue;
        EXPECT_EQ(out[4 * lane], ballot == mask);
        EXPECT_EQ(out[4 * lane + 1], ballot != 0);
        EXPECT_EQ(out[4 * lane + 2], ballot == mask || ballot == 0);
        EXPECT_EQ(out[4 * lane + 3], ballot);
      }
    }
}

TEST(Warp, Matches) {
  auto kernel = [](void **parameters) {
    uint32_t *out = parameter<uint32_t *>(parameters, 0);
    uint64_t divisor = parameter<uint64_t>(parameters, 1);
    uint64_t value = (uint64_t(threadId()) / divisor) << 40;
    int32_t areEqual;
    store(&out[3 * threadId()],
          sparseAutogradEmulateMatchAny(all, value, HERE));
    store(&out[3 * threadId() + 1],
          sparseAutogradEmulateMatchAll(all, value, &areEqual, HERE));
    store(&out[3 * threadId() + 2], uint32_t(areEqual));
  };
  Device device(2);
  uint32_t *out = device.allocate(std::vector<uint32_t>(96));
  for (uint64_t divisor : {1, 8, 32}) {
    ASSERT_EQ(device.launch(kernel, 1, 32, 0, out, divisor),
              SPARSE_AUTOGRAD_SUCCESS);
    for (int lane = 0; lane < 32; ++lane) {
      uint32_t group = divisor == 32 ? all : (1u << divisor) - 1;
      EXPECT_EQ(out[3 * lane], group << (lane / divisor * divisor));
      EXPECT_EQ(out[3 * lane + 1], divisor == 32 ? all : 0);
      EXPECT_EQ(out[3 * lane + 2], divisor == 32);
    }
  }
}

TEST(Warp, Elect) {
  auto kernel = [](void **parameters) {
    uint32_t *out = parameter<uint32_t *>(parameters, 0);
    if (threadId() < 3)
      return;
    uint32_t leader;
    if (sparseAutogradEmulateElect(all << 3, &leader, HERE))
      atomicAdd(&out[0], 1u);
    store(&out[threadId()], leader);
  };
  Device device(2);
  uint32_t *out = device.allocate(std::vector<uint32_t>(32));
  ASSERT_EQ(device.launch(kernel, 1, 32, 0, out), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[17], 3u);
}

TEST(Warp, ActiveMask) {
  // Threads that do the same together: each adds for all that are with it.
  auto kernel = [](void **parameters) {
    int32_t *sums = parameter<int32_t *>(parameters, 0);
    int32_t which = threadId() % 3;
    uint32_t mask;
    if (which == 0)
      mask = sparseAutogradEmulateActiveMask("zero");
    else
      mask = sparseAutogradEmulateActiveMask("others");
    uint32_t leader;
    if (sparseAutogradEmulateElect(mask, &leader, HERE))
      atomicAdd(&sums[which], __builtin_popcount(mask));
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *sums = device.allocate(std::vector<int32_t>(3));
    ASSERT_EQ(device.launch(kernel, 1, 64, 0, sums), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_EQ(sums[0], 22);
    EXPECT_EQ(sums[1] + sums[2], 42);
  }
  // In the plain order those at one place are together.
  auto count = [](void **parameters) {
    uint32_t *out = parameter<uint32_t *>(parameters, 0);
    if (threadId() < 10)
      store(&out[threadId()], sparseAutogradEmulateActiveMask(HERE));
    else
      sparseAutogradEmulateWarpSync(0xFFFFFC00, HERE);
  };
  Device device;
  uint32_t *out = device.allocate(std::vector<uint32_t>(32));
  ASSERT_EQ(device.launch(count, 1, 32, 0, out), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(out[0], 0x3FFu);
  // With a seed some are late.
  Device other(1);
  out = other.allocate(std::vector<uint32_t>(32));
  ASSERT_EQ(other.launch(count, 1, 32, 0, out), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_NE(out[0], 0x3FFu);
  for (int lane = 0; lane < 10; ++lane) {
    EXPECT_TRUE(out[lane] >> lane & 1);
    EXPECT_EQ(out[lane] & ~0x3FFu, 0u);
  }
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

TEST(Warp, NotInItsOwnMask) {
  auto kernel = [](void **) {
    sparseAutogradEmulateWarpSync(0xFFFF, "the barrier");
  };
  Device device;
  EXPECT_FAULT(device, device.launch(kernel, 1, 32, 0),
               SPARSE_AUTOGRAD_EMULATOR_NOT_IN_MASK,
               "thread (16, 0, 0) executes bar.warp.sync with mask 0x0000ffff, "
               "in which its own lane 16 is not, at [the barrier]");
}

TEST(Warp, DifferentOperations) {
  auto kernel = [](void **) {
    if (threadId() < 16)
      shuffle(SPARSE_AUTOGRAD_SHUFFLE_UP, all, 1, 1, 0, "left");
    else
      shuffle(SPARSE_AUTOGRAD_SHUFFLE_DOWN, all, 1, 1, 31, "right");
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_FAULT(device, device.launch(kernel, 1, 32, 0),
                 SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP, " but thread (");
  }
  Device device;
  device.launch(kernel, 1, 32, 0);
  EXPECT_THAT(device.message(),
              testing::HasSubstr(
                  "thread (16, 0, 0) executes shfl.sync.down with mask "
                  "0xffffffff, but thread (0, 0, 0) waits in shfl.sync.up with "
                  "mask 0xffffffff [left], at [right]"));
}

TEST(Warp, DifferentMasks) {
  auto kernel = [](void **) {
    sparseAutogradEmulateWarpSync(threadId() < 16 ? all : all << 1, HERE);
  };
  Device device;
  EXPECT_FAULT(device, device.launch(kernel, 1, 32, 0),
               SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
               "executes bar.warp.sync with mask 0xfffffffe, but thread (1, 0, "
               "0) waits in bar.warp.sync with mask 0xffffffff");
}

TEST(Warp, SamePlaceIsNotNeededToShuffle) {
  auto kernel = [](void **parameters) {
    float *out = parameter<float *>(parameters, 0);
    float value;
    if (threadId() < 16)
      value = shuffle(SPARSE_AUTOGRAD_SHUFFLE_INDEX, all, 3, 0, 31, "left");
    else
      value = shuffle(SPARSE_AUTOGRAD_SHUFFLE_INDEX, all, 4, 0, 31, "right");
    store(&out[threadId()], value);
  };
  Device device;
  float *out = device.allocate(std::vector<float>(32));
  ASSERT_EQ(device.launch(kernel, 1, 32, 0, out), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(out[31], 3);
}

TEST(Warp, AShuffleFromAThreadThatEnded) {
  auto kernel = [](void **) {
    if (threadId() < 8)
      return;
    shuffle(SPARSE_AUTOGRAD_SHUFFLE_INDEX, all, 3, 5, 31, HERE);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_FAULT(device, device.launch(kernel, 1, 32, 0),
                 SPARSE_AUTOGRAD_EMULATOR_INACTIVE_LANE,
                 "thread (8, 0, 0) reads from lane 5 with shfl.sync.idx and "
                 "mask 0xffffffff, but that lane does not take part");
  }
}

TEST(Warp, AShuffleFromOutsideTheMask) {
  auto kernel = [](void **) {
    if (threadId() >= 16)
      shuffle(SPARSE_AUTOGRAD_SHUFFLE_UP, 0xFFFF0000, 3, 4, 0, HERE);
  };
  Device device;
  EXPECT_FAULT(device, device.launch(kernel, 1, 32, 0),
               SPARSE_AUTOGRAD_EMULATOR_INACTIVE_LANE,
               "thread (16, 0, 0) reads from lane 12 with shfl.sync.up");
}

TEST(Warp, AThreadThatNeverComes) {
  auto kernel = [](void **) {
    if (threadId() == 7)
      sparseAutogradEmulateBarrier(2, -1, 0, "its barrier");
    else
      sparseAutogradEmulateWarpSync(all, "the others");
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_FAULT(device, device.launch(kernel, 1, 32, 0),
                 SPARSE_AUTOGRAD_EMULATOR_MISSING_AT_BARRIER,
                 "thread (7, 0, 0) waits in barrier.cta.sync of barrier 2, at "
                 "which 1 of 32 threads have arrived, but thread (0, 0, 0) "
                 "waits in bar.warp.sync with mask 0xffffffff [the others], "
                 "at [its barrier]");
  }
}

TEST(Warp, ACycleOfWaitingThreads) {
  // 0 waits for 1, 1 for 2 and 2 for 0.
  auto kernel = [](void **) {
    uint32_t masks[] = {3, 6, 5};
    sparseAutogradEmulateWarpSync(masks[threadId()], HERE);
  };
  Device device;
  EXPECT_FAULT(device, device.launch(kernel, 1, 3, 0),
               SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
               "thread (0, 0, 0) waits in bar.warp.sync with mask 0x00000003, "
               "but thread (1, 0, 0) waits in bar.warp.sync with mask "
               "0x00000006");
}
