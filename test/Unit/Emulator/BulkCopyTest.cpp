//===- BulkCopyTest.cpp - Copies that are done by no thread -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "SparseAutograd/Runtime/DeviceABI.h"

namespace {
/// A tensor map as a parameter by value.
struct alignas(64) Map {
  unsigned char bytes[128];
};
} // namespace

/// A map of f32 elements; dimension 0 comes first.
static SparseAutogradTensorTiles makeTiles(void *address,
                                           std::vector<int64_t> extents,
                                           std::vector<int32_t> box,
                                           int32_t swizzle = 0) {
  SparseAutogradTensorTiles tiles = {};
  tiles.element = SPARSE_AUTOGRAD_TENSOR_F32;
  tiles.rank = static_cast<int32_t>(extents.size());
  tiles.swizzle = swizzle;
  tiles.address = address;
  int64_t stride = 4;
  for (size_t i = 0; i < extents.size(); ++i) {
    tiles.extents[i] = extents[i];
    tiles.box[i] = box[i];
    tiles.steps[i] = 1;
    stride *= extents[i];
    if (i < 4)
      tiles.strides[i] = stride;
  }
  return tiles;
}

static Map makeMap(Device &device, const SparseAutogradTensorTiles &tiles) {
  Map map;
  EXPECT_EQ(sparseAutogradEmulatorEncodeTensorMap(device.get(), &map, &tiles),
            SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  return map;
}

//===----------------------------------------------------------------------===//
// For kernels
//===----------------------------------------------------------------------===//

/// Objects lie at the end of shared memory.
static constexpr int32_t objectPlace = 8192;
static uint64_t *object(int32_t i = 0) {
  return reinterpret_cast<uint64_t *>(shared<char>() + objectPlace) + i;
}
static void initialize(int32_t count, int32_t objects = 1) {
  if (threadId() == 0) {
    for (int32_t i = 0; i < objects; ++i)
      sparseAutogradEmulateMbarrierInit(object(i), count, "the begin");
    sparseAutogradEmulateProxyFence(1, HERE);
  }
  barrier(HERE);
}
static void expectBytes(int32_t bytes, int32_t i = 0) {
  sparseAutogradEmulateMbarrierArrive(
      object(i), 1, bytes, SPARSE_AUTOGRAD_ARRIVAL_EXPECTS_BYTES, HERE);
}
static void waitFor(uint64_t parity, int32_t i = 0) {
  while (!sparseAutogradEmulateMbarrierWait(object(i), parity,
                                            SPARSE_AUTOGRAD_WAIT_FOR_PARITY |
                                                SPARSE_AUTOGRAD_WAIT_BLOCKS,
                                            "the wait"))
    ;
}
static const Map *takeMap(void **parameters, int i) {
  return static_cast<const Map *>(
      sparseAutogradEmulateParameter(parameters[i], sizeof(Map)));
}
static constexpr int64_t sharedBytes = objectPlace + 64;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Thread 0 copies 64 numbers to shared memory, all add to them, thread 0
/// copies them back. The mistakes are one each.
static void copyBothWays(void **parameters) {
  int32_t *from = parameter<int32_t *>(parameters, 0);
  int32_t *to = parameter<int32_t *>(parameters, 1);
  int32_t mistake = parameter<int32_t>(parameters, 2);
  int32_t *numbers = shared<int32_t>();
  if (mistake == 1) {
    if (threadId() == 0)
      sparseAutogradEmulateMbarrierInit(object(), 1, "the begin");
    barrier(HERE);
  } else {
    initialize(1);
  }
  if (threadId() == 0) {
    expectBytes(mistake == 2 ? 512 : 256);
    sparseAutogradEmulateBulkLoad(numbers, from, 256, object(), "the load");
  }
  if (mistake != 3)
    waitFor(0);
  store(&numbers[threadId()], load(&numbers[threadId()], "the read") + 1000);
  if (mistake != 4)
    sparseAutogradEmulateProxyFence(0, HERE);
  if (mistake != 5)
    barrier(HERE);
  if (threadId() != 0)
    return;
  sparseAutogradEmulateBulkStore(to, numbers, 256, "the store");
  sparseAutogradEmulateBulkCommit();
  if (mistake == 6)
    store(&numbers[3], 5, "the write");
  if (mistake != 7)
    sparseAutogradEmulateBulkWait(0, mistake == 8, HERE);
  store(&numbers[3], 6);
  if (mistake == 0)
    load(&to[5]);
}

TEST(BulkCopy, ThereAndBack) {
  for (uint64_t seed : someSeeds())
    for (int32_t mistake : {0, 8}) {
      Device device(seed);
      std::vector<int32_t> numbers(64);
      for (int32_t i = 0; i < 64; ++i)
        numbers[i] = i;
      int32_t *from = device.allocate(numbers);
      int32_t *to = device.allocate(std::vector<int32_t>(64));
      ASSERT_EQ(
          device.launch(copyBothWays, 1, 64, sharedBytes, from, to, mistake),
          SPARSE_AUTOGRAD_SUCCESS)
          << device.message();
      for (int32_t i = 0; i < 64; ++i)
        EXPECT_EQ(to[i], i + 1000);
    }
}

/// Expects that copyBothWays has this fault with every seed.
static void expectMistake(int32_t mistake, int32_t fault, const char *text) {
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *from = device.allocate(std::vector<int32_t>(64));
    int32_t *to = device.allocate(std::vector<int32_t>(64));
    EXPECT_FAULT(
        device,
        device.launch(copyBothWays, 1, 64, sharedBytes, from, to, mistake),
        fault, text);
  }
}

TEST(BulkCopy, NeedsFences) {
  expectMistake(1, SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE,
                "thread (0, 0, 0) executes cp.async.bulk with the mbarrier at "
                "offset 8192 of shared memory, which was initialised [the "
                "begin], and neither fence.mbarrier_init nor fence.proxy.async "
                "is between them, at [the load]");
  expectMistake(4, SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE,
                "thread (0, 0, 0) has cp.async.bulk read 256 bytes at offset 0 "
                "of shared memory, where thread (0, 0, 0) has written byte 0, "
                "and no fence.proxy.async is between them, at [the store]");
}

TEST(BulkCopy, NeedsFencesBehindCopiesThatHaveLanded) {
  // Before the wait a fence knows nothing of what a cp.async writes.
  auto kernel = [](void **parameters) {
    int32_t *from = parameter<int32_t *>(parameters, 0);
    bool isEarly = parameter<int32_t>(parameters, 1) != 0;
    bool hasMbarrier = parameter<int32_t>(parameters, 2) != 0;
    initialize(1);
    sparseAutogradEmulateCopyAsync(shared<char>(), from, 16, 16, "the copy");
    if (hasMbarrier)
      sparseAutogradEmulateCopyArrive(object(), 1, HERE);
    if (isEarly)
      sparseAutogradEmulateProxyFence(0, HERE);
    if (hasMbarrier)
      waitFor(0);
    else
      sparseAutogradEmulateWaitAll(HERE);
    if (!isEarly)
      sparseAutogradEmulateProxyFence(0, HERE);
    sparseAutogradEmulateBulkStore(from, shared<char>(), 16, "the store");
    sparseAutogradEmulateBulkCommit();
    sparseAutogradEmulateBulkWait(0, 0, HERE);
  };
  for (int32_t hasMbarrier : {0, 1}) {
    Device device;
    int32_t *from = device.allocate(std::vector<int32_t>(4));
    EXPECT_EQ(device.launch(kernel, 1, 1, sharedBytes, from, 0, hasMbarrier),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_FAULT(device,
                 device.launch(kernel, 1, 1, sharedBytes, from, 1, hasMbarrier),
                 SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE, "at [the store]");
  }
}

TEST(BulkCopy, MustBeWaitedFor) {
  expectMistake(2, SPARSE_AUTOGRAD_EMULATOR_HANG,
                "with 0 of 1 arrivals and 256 bytes to come");
  expectMistake(6, SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY,
                "writes 4 bytes at offset 12 of shared memory, which an "
                "asynchronous operation reads that has not been waited for "
                "[the store], at [the write]");
  expectMistake(7, SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY, "offset 12");
  // Before the copy has begun what is read is uninitialised.
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *from = device.allocate(std::vector<int32_t>(64));
    EXPECT_NE(device.launch(copyBothWays, 1, 64, sharedBytes, from, from, 3),
              SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_THAT(device.message(), testing::HasSubstr("at [the read]"));
    EXPECT_THAT(device.report().fault,
                testing::AnyOf(int32_t(SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED),
                               int32_t(SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY)));
  }
  auto early = [](void **parameters) {
    initialize(1);
    expectBytes(16);
    sparseAutogradEmulateBulkLoad(shared<int32_t>(),
                                  parameter<int32_t *>(parameters, 0), 16,
                                  object(), HERE);
    load(shared<int32_t>(), "the read");
  };
  // Also when it has landed: nobody knows.
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *from = device.allocate(std::vector<int32_t>(4));
    EXPECT_FAULT(device, device.launch(early, 1, 1, sharedBytes, from),
                 SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY,
                 "reads 4 bytes at offset 0 of shared memory, which a "
                 "cp.async.bulk writes that has not been waited for");
  }
}

TEST(BulkCopy, NobodyEndsBefore) {
  auto load = [](void **parameters) {
    initialize(1);
    expectBytes(16);
    sparseAutogradEmulateBulkLoad(shared<int32_t>(),
                                  parameter<int32_t *>(parameters, 0), 16,
                                  object(), HERE);
  };
  auto store = [](void **parameters) {
    initialize(1);
    ::store(shared<int64_t>(), int64_t(0));
    ::store(shared<int64_t>() + 1, int64_t(0));
    sparseAutogradEmulateProxyFence(0, HERE);
    sparseAutogradEmulateBulkStore(parameter<int32_t *>(parameters, 0),
                                   shared<int32_t>(), 16, "the store");
    sparseAutogradEmulateBulkCommit();
  };
  auto wait = [](void **) { sparseAutogradEmulateBulkWait(-1, 0, HERE); };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    EXPECT_FAULT(device, device.launch(wait, 1, 1, 0),
                 SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
                 "waits for all but -1 groups of cp.async.bulk");
    int32_t *buffer = device.allocate(std::vector<int32_t>(4));
    EXPECT_FAULT(device, device.launch(load, 1, 1, sharedBytes, buffer),
                 SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY,
                 "ends as the last one of the block, but nobody has waited for "
                 "what cp.async.bulk writes to offset 0");
    EXPECT_FAULT(device, device.launch(store, 1, 1, sharedBytes, buffer),
                 SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY,
                 "ends, but 16 bytes at offset 0 of shared memory are read by "
                 "an asynchronous operation that it has not waited for, at "
                 "[the store]");
  }
}

TEST(BulkCopy, GlobalMemoryMustBeWaitedFor) {
  // Thread 1 reads what thread 0 copied: behind a barrier, for which thread 0
  // has waited for all of it, or for the reads alone.
  auto kernel = [](void **parameters) {
    int32_t *buffer = parameter<int32_t *>(parameters, 0);
    bool isRead = parameter<int32_t>(parameters, 1) != 0;
    if (threadId() == 0) {
      for (int32_t i = 0; i < 4; ++i)
        store(&shared<int32_t>()[i], i);
      sparseAutogradEmulateProxyFence(0, HERE);
      sparseAutogradEmulateBulkStore(buffer, shared<int32_t>(), 16,
                                     "the store");
      sparseAutogradEmulateBulkCommit();
      sparseAutogradEmulateBulkWait(0, isRead, HERE);
    }
    barrier(HERE);
    if (threadId() == 1)
      store(&buffer[4], load(&buffer[3], "the read"));
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *buffer = device.allocate(std::vector<int32_t>(8));
    ASSERT_EQ(device.launch(kernel, 1, 2, 64, buffer, 0),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    EXPECT_EQ(buffer[4], 3);
    EXPECT_FAULT(device, device.launch(kernel, 1, 2, 64, buffer, 1),
                 SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY,
                 "thread (1, 0, 0) reads 4 bytes of global memory, which a "
                 "cp.async.bulk writes that has not been waited for [the "
                 "store], at [the read]");
  }
}

TEST(BulkCopy, OnlyWhoWaitsKnows) {
  // Thread 1 learns by an atomic operation that thread 0 has waited.
  auto kernel = [](void **parameters) {
    int32_t *flag = parameter<int32_t *>(parameters, 1);
    initialize(1);
    if (threadId() == 0) {
      expectBytes(16);
      sparseAutogradEmulateBulkLoad(shared<int32_t>(),
                                    parameter<int32_t *>(parameters, 0), 16,
                                    object(), "the load");
      waitFor(0);
      atomicAdd(flag, 1);
    } else {
      while (atomicAdd(flag, 0) == 0)
        ;
      load(shared<int32_t>(), "the read");
    }
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *from = device.allocate(std::vector<int32_t>(4));
    int32_t *flag = device.allocate(std::vector<int32_t>(1));
    EXPECT_FAULT(device, device.launch(kernel, 1, 2, sharedBytes, from, flag),
                 SPARSE_AUTOGRAD_EMULATOR_DATA_RACE,
                 "which an asynchronous copy wrote [the load], and this thread "
                 "has not waited for its mbarrier");
  }
}

TEST(BulkCopy, OperandsAreChecked) {
  auto kernel = [](void **parameters) {
    char *from = parameter<char *>(parameters, 0);
    int32_t bytes = parameter<int32_t>(parameters, 1);
    int32_t offset = parameter<int32_t>(parameters, 2);
    int32_t place = parameter<int32_t>(parameters, 3);
    initialize(1);
    sparseAutogradEmulateBulkLoad(shared<char>() + place, from + offset, bytes,
                                  object(), HERE);
  };
  struct Case {
    int32_t bytes, offset, place, fault;
    const char *text;
  };
  for (const Case &test : {
           Case{24, 0, 0, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
                "copies 24 bytes with cp.async.bulk: multiples of 16"},
           Case{0, 0, 0, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, "0 bytes"},
           Case{16, 8, 0, SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, "to 16 bytes"},
           Case{16, 0, 8, SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, "to 16 bytes"},
           Case{512, 0, 0, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS,
                "reads 512 bytes"},
           Case{16, 0, 16384, SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS,
                "at offset 16384 of shared memory"},
           Case{16, 0, objectPlace, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER,
                "where an mbarrier is"},
       }) {
    Device device;
    int32_t *from = device.allocate(std::vector<int32_t>(64));
    EXPECT_FAULT(device,
                 device.launch(kernel, 1, 1, sharedBytes, from, test.bytes,
                               test.offset, test.place),
                 test.fault, test.text);
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Loads a tile at coordinates, gives its bytes to a buffer as they lie in
/// shared memory, and stores it to another tensor at the same place.
static void copyTile(void **parameters) {
  const Map *from = takeMap(parameters, 0);
  const Map *to = takeMap(parameters, 1);
  float *out = parameter<float *>(parameters, 2);
  int32_t rank = parameter<int32_t>(parameters, 3);
  int32_t count = parameter<int32_t>(parameters, 4);
  int32_t coordinates[5];
  std::memcpy(coordinates, parameters[5], sizeof(coordinates));
  float *tile = shared<float>();
  initialize(1);
  if (threadId() == 0) {
    sparseAutogradEmulateTensorPrefetch(from, rank, HERE);
    expectBytes(4 * count);
    sparseAutogradEmulateTensorLoad(tile, from, rank, coordinates, object(),
                                    "the load");
  }
  waitFor(0);
  for (int32_t i = threadId(); i < count; i += 32)
    store(&out[i], load(&tile[i]));
  barrier(HERE);
  if (threadId() == 0) {
    sparseAutogradEmulateTensorStore(to, rank, coordinates, tile, "the store");
    sparseAutogradEmulateBulkCommit();
    sparseAutogradEmulateBulkWait(0, 0, HERE);
  }
}

namespace {
struct Coordinates {
  int32_t of[5];
};
} // namespace

TEST(BulkCopy, TilesOfEveryRank) {
  // In each dimension the tile begins one before the end, or one before the
  // begin of the tensor, so that some of it lies outside.
  for (int32_t rank = 1; rank <= 5; ++rank)
    for (bool isAtBegin : {false, true})
      for (uint64_t seed : {0, 1, 2}) {
        Device device(seed);
        std::vector<int64_t> extents = {12, 5, 4, 3, 3};
        std::vector<int32_t> box = {8, 3, 2, 2, 2};
        extents.resize(rank);
        box.resize(rank);
        int64_t size = 1, count = 1;
        for (int32_t i = 0; i < rank; ++i) {
          size *= extents[i];
          count *= box[i];
        }
        std::vector<float> numbers(size);
        for (int64_t i = 0; i < size; ++i)
          numbers[i] = float(i + 1);
        float *from = device.allocate(numbers);
        float *to = device.allocate(std::vector<float>(size, -1));
        float *out = device.allocate(std::vector<float>(count));
        Coordinates place = {};
        for (int32_t i = 0; i < rank; ++i)
          place.of[i] = isAtBegin ? -1 : int32_t(extents[i]) - 1;
        ASSERT_EQ(device.launch(copyTile, 1, 32, sharedBytes,
                                makeMap(device, makeTiles(from, extents, box)),
                                makeMap(device, makeTiles(to, extents, box)),
                                out, rank, int32_t(count), place),
                  SPARSE_AUTOGRAD_SUCCESS)
            << device.message();
        std::vector<float> expectedTo(size, -1);
        for (int64_t i = 0; i < count; ++i) {
          int64_t rest = i, stride = 1, index = 0;
          bool isInside = true;
          for (int32_t d = 0; d < rank; ++d) {
            int64_t at = place.of[d] + rest % box[d];
            rest /= box[d];
            isInside &= at >= 0 && at < extents[d];
            index += at * stride;
            stride *= extents[d];
          }
          EXPECT_EQ(out[i], isInside ? numbers[index] : 0) << rank << " " << i;
          if (isInside)
            expectedTo[index] = numbers[index];
        }
        EXPECT_EQ(std::vector<float>(to, to + size), expectedTo);
      }
}

TEST(BulkCopy, Swizzles) {
  // Rows of 32, 64 and 128 bytes. The piece of 16 bytes with index c of the
  // line with index l, of 128 bytes, changes its place with that of index c ^
  // k: with k = l mod 8 for 128 bytes, l mod 4 for 64, l mod 2 for 32 (figures
  // of the PTX ISA, "Swizzling modes").
  for (int32_t swizzle : {1, 2, 3}) {
    int32_t span = 16 << swizzle;
    int32_t pieces = span / 16;
    int32_t columns = span / 4;
    constexpr int32_t rows = 40;
    Device device;
    std::vector<float> numbers(columns * rows);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = float(i);
    float *from = device.allocate(numbers);
    float *to = device.allocate(std::vector<float>(numbers.size(), -1));
    float *out = device.allocate(std::vector<float>(numbers.size()));
    auto tiles = [&](void *address) {
      return makeTiles(address, {columns, rows}, {columns, rows}, swizzle);
    };
    ASSERT_EQ(device.launch(copyTile, 1, 32, sharedBytes,
                            makeMap(device, tiles(from)),
                            makeMap(device, tiles(to)), out, 2, columns * rows,
                            Coordinates{}),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int32_t byte = 0; byte < span * rows; byte += 4) {
      int32_t line = byte / 128;
      int32_t piece = byte % span / 16;
      int32_t moved = byte - piece * 16 + (piece ^ (line % pieces)) * 16;
      EXPECT_EQ(out[moved / 4], numbers[byte / 4]) << span << " " << byte;
    }
    EXPECT_EQ(std::vector<float>(to, to + numbers.size()), numbers);
  }
}

TEST(BulkCopy, StepsAndNarrowElements) {
  // Every third row of an u8 matrix.
  Device device;
  std::vector<uint8_t> numbers(16 * 8);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = uint8_t(i);
  auto *from = device.allocate(numbers);
  SparseAutogradTensorTiles tiles = {};
  tiles.element = SPARSE_AUTOGRAD_TENSOR_U8;
  tiles.rank = 2;
  tiles.address = from;
  tiles.extents[0] = 16;
  tiles.extents[1] = 8;
  tiles.strides[0] = 16;
  tiles.box[0] = 16;
  tiles.box[1] = 7;
  tiles.steps[0] = 1;
  tiles.steps[1] = 3;
  auto *to = device.allocate(std::vector<uint8_t>(16 * 8));
  SparseAutogradTensorTiles other = tiles;
  other.address = to;
  auto *out = device.allocate(std::vector<uint8_t>(48));
  ASSERT_EQ(device.launch(copyTile, 1, 32, sharedBytes, makeMap(device, tiles),
                          makeMap(device, other), out, 2, 12,
                          Coordinates{{0, 1, 0, 0, 0}}),
            SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  for (int32_t i = 0; i < 48; ++i) {
    int32_t row = 1 + i / 16 * 3;
    EXPECT_EQ(out[i], uint8_t(row * 16 + i % 16));
    EXPECT_EQ(to[row * 16 + i % 16], out[i]);
  }
  EXPECT_EQ(to[0], 0);
  EXPECT_EQ(to[2 * 16], 0);
}

TEST(BulkCopy, APipeline) {
  // Thread 0 keeps three of twelve tiles on their way; full and empty buffers
  // are mbarriers. A mistake: it does not wait for empty ones.
  auto kernel = [](void **parameters) {
    const Map *map = takeMap(parameters, 0);
    float *out = parameter<float *>(parameters, 1);
    bool isWrong = parameter<int32_t>(parameters, 2) != 0;
    constexpr int32_t stages = 3, tiles = 12, bytes = 32 * 4;
    if (threadId() == 0) {
      for (int32_t i = 0; i < stages; ++i) {
        sparseAutogradEmulateMbarrierInit(object(i), 1, HERE);
        sparseAutogradEmulateMbarrierInit(object(stages + i), 32, HERE);
      }
      sparseAutogradEmulateProxyFence(1, HERE);
    }
    barrier(HERE);
    auto getBuffer = [](int32_t tile) {
      return shared<float>() + 32 * (tile % stages);
    };
    if (threadId() == 32) {
      for (int32_t tile = 0; tile < tiles; ++tile) {
        if (!isWrong)
          waitFor((tile / stages % 2) ^ 1, stages + tile % stages);
        expectBytes(bytes, tile % stages);
        int32_t coordinates[] = {0, tile};
        sparseAutogradEmulateTensorLoad(getBuffer(tile), map, 2, coordinates,
                                        object(tile % stages), "the load");
      }
    } else if (threadId() < 32) {
      float sum = 0;
      for (int32_t tile = 0; tile < tiles; ++tile) {
        waitFor(tile / stages % 2, tile % stages);
        sum += load(&getBuffer(tile)[31 - threadId()]);
        sparseAutogradEmulateMbarrierArrive(object(stages + tile % stages), 1,
                                            0, 0, HERE);
      }
      store(&out[threadId()], sum);
    }
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    std::vector<float> numbers(32 * 12);
    for (int32_t i = 0; i < 32 * 12; ++i)
      numbers[i] = float(i);
    float *from = device.allocate(numbers);
    float *out = device.allocate(std::vector<float>(32));
    Map map = makeMap(device, makeTiles(from, {32, 12}, {32, 1}));
    ASSERT_EQ(device.launch(kernel, 1, 64, sharedBytes, map, out, 0),
              SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int32_t i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 32 * 66 + 12 * (31 - i));
    EXPECT_NE(device.launch(kernel, 1, 64, sharedBytes, map, out, 1),
              SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_THAT(device.message(), testing::HasSubstr("thread (32, 0, 0)"));
  }
}

TEST(BulkCopy, TilesAreChecked) {
  auto kernel = [](void **parameters) {
    const Map *map = takeMap(parameters, 0);
    int32_t rank = parameter<int32_t>(parameters, 1);
    int32_t place = parameter<int32_t>(parameters, 2);
    initialize(1);
    int32_t coordinates[4] = {};
    sparseAutogradEmulateTensorLoad(shared<char>() + place, map, rank,
                                    coordinates, object(), HERE);
  };
  Device device;
  float *from = device.allocate(std::vector<float>(64));
  Map map = makeMap(device, makeTiles(from, {32, 2}, {32, 2}));
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, sharedBytes, map, 1, 0),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               "with 1 coordinates and the map of a tensor of rank 2");
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, sharedBytes, map, 2, 64),
               SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, "to 128 bytes");
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, sharedBytes, Map(), 2, 0),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               "with a tensor map that is none");
  // The tensor is larger than the buffer.
  map = makeMap(device, makeTiles(from, {32, 3}, {32, 3}));
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, sharedBytes, map, 2, 0),
               SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS, "reads 128 bytes");
  // So many bytes that 32 bits do not hold their number, of which most lie
  // outside of the tensor.
  map = makeMap(device, makeTiles(from, {32, 2, 1, 1}, {256, 256, 256, 64}));
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, sharedBytes, map, 4, 0),
               SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS,
               "writes 4294967296 bytes at offset 0 of shared memory");
}

TEST(BulkCopy, MapsAreChecked) {
  Device device;
  float *from = device.allocate(std::vector<float>(64));
  auto refuse = [&](void (*change)(SparseAutogradTensorTiles &),
                    const char *text) {
    Map map;
    SparseAutogradTensorTiles tiles = makeTiles(from, {32, 2}, {32, 2});
    change(tiles);
    EXPECT_EQ(sparseAutogradEmulatorEncodeTensorMap(device.get(), &map, &tiles),
              SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_THAT(device.message(), testing::HasSubstr(text));
  };
  refuse([](auto &tiles) { tiles.element = 10; }, "elements 10");
  refuse([](auto &tiles) { tiles.rank = 6; }, "rank 6");
  refuse([](auto &tiles) { tiles.swizzle = 4; }, "swizzle 4");
  refuse(
      [](auto &tiles) {
        tiles.address = static_cast<float *>(tiles.address) + 2;
      },
      "not aligned to 16 bytes");
  refuse([](auto &tiles) { tiles.strides[0] = 120; },
         "a stride of 120 bytes in dimension 1");
  refuse([](auto &tiles) { tiles.extents[1] = 0; }, "extent 0 in dimension 1");
  refuse([](auto &tiles) { tiles.box[1] = 257; },
         "boxes of 257 in dimension 1");
  refuse([](auto &tiles) { tiles.steps[1] = 9; }, "steps of 9");
  refuse([](auto &tiles) { tiles.steps[0] = 2; }, "steps of 2 in dimension 0");
  refuse([](auto &tiles) { tiles.box[0] = 6; },
         "24 bytes, which is no multiple of 16");
  refuse(
      [](auto &tiles) { tiles.swizzle = SPARSE_AUTOGRAD_TENSOR_SWIZZLE_64B; },
      "128 bytes, more than the 64");
  // What a device takes, and the emulator does not.
  refuse(
      [](auto &tiles) {
        tiles.swizzle = SPARSE_AUTOGRAD_TENSOR_SWIZZLE_128B;
        tiles.box[0] = 16;
      },
      "a swizzle of 128 bytes for boxes with rows of as many, not of 64");
}
