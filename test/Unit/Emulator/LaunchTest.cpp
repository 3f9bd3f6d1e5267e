//===- LaunchTest.cpp - Emulators, buffers and launches ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <cmath>
#include <cstdlib>

extern "C" const SparseAutogradEmulatorKernel doubleInC;

TEST(Launch, KernelInC) {
  Device device;
  double *numbers = device.allocate(std::vector<double>{1, 2, 3});
  void *parameters[] = {&numbers};
  SparseAutogradEmulatorLaunch launch = {{1, 1, 1}, {3, 1, 1}, 0};
  ASSERT_EQ(sparseAutogradEmulatorLaunch(device.get(), &doubleInC, &launch,
                                         parameters),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_THAT(std::vector<double>(numbers, numbers + 3),
              testing::ElementsAre(2, 4, 6));
}

TEST(Launch, NullPointers) {
  // Without an emulator.
  sparseAutogradEmulatorGetDefaultOptions(nullptr);
  sparseAutogradEmulatorSetSeed(nullptr, 1);
  sparseAutogradEmulatorRemoveModule(nullptr, nullptr);
  sparseAutogradEmulatorGetCounters(nullptr, nullptr);
  EXPECT_EQ(sparseAutogradEmulatorAllocate(nullptr, 8), nullptr);
  EXPECT_EQ(sparseAutogradEmulatorContains(nullptr, nullptr, 0), 0);
  EXPECT_EQ(sparseAutogradEmulatorGetReport(nullptr), nullptr);
  for (int32_t status :
       {sparseAutogradEmulatorFree(nullptr, nullptr),
        sparseAutogradEmulatorEncodeTensorMap(nullptr, nullptr, nullptr),
        sparseAutogradEmulatorAddModule(nullptr, nullptr),
        sparseAutogradEmulatorLaunch(nullptr, nullptr, nullptr, nullptr)})
    EXPECT_EQ(status, SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "the pointer to the emulator is null");

  // With one.
  Device device;
  SparseAutogradEmulator *emulator = device.get();
  sparseAutogradEmulatorGetCounters(emulator, nullptr);
  sparseAutogradEmulatorRemoveModule(emulator, nullptr);
  EXPECT_EQ(sparseAutogradEmulatorFree(emulator, nullptr),
            SPARSE_AUTOGRAD_SUCCESS);
  double *numbers = device.allocate(std::vector<double>{1, 2, 3});
  void *parameters[] = {&numbers}, *missing[] = {nullptr};
  char map[128];
  SparseAutogradEmulatorLaunch launch = {{1, 1, 1}, {3, 1, 1}, 0};
  SparseAutogradEmulatorKernel withoutCode = doubleInC;
  withoutCode.function = nullptr;
  SparseAutogradEmulatorModule module = {SPARSE_AUTOGRAD_EMULATOR_VERSION, 0, 1,
                                         nullptr, nullptr};
  auto launchIt = [&](const SparseAutogradEmulatorKernel *kernel,
                      const SparseAutogradEmulatorLaunch *how, void **with) {
    return sparseAutogradEmulatorLaunch(emulator, kernel, how, with);
  };
  for (int32_t status :
       {launchIt(nullptr, &launch, parameters),
        launchIt(&withoutCode, &launch, parameters),
        launchIt(&doubleInC, nullptr, parameters),
        launchIt(&doubleInC, &launch, nullptr),
        launchIt(&doubleInC, &launch, missing),
        sparseAutogradEmulatorEncodeTensorMap(emulator, map, nullptr),
        sparseAutogradEmulatorEncodeTensorMap(emulator, nullptr, nullptr),
        sparseAutogradEmulatorAddModule(emulator, nullptr),
        sparseAutogradEmulatorAddModule(emulator, &module)})
    EXPECT_EQ(status, SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(device.message(),
            "the pointer to a module, or to its variables, is null");
  EXPECT_EQ(launchIt(&doubleInC, &launch, parameters), SPARSE_AUTOGRAD_SUCCESS);
}

TEST(Launch, EveryThreadOfEveryBlock) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    auto get = [](int32_t which) {
      return sparseAutogradEmulateRegister(which);
    };
    int64_t block =
        (get(SPARSE_AUTOGRAD_CTAID_Z) * get(SPARSE_AUTOGRAD_NCTAID_Y) +
         get(SPARSE_AUTOGRAD_CTAID_Y)) *
            get(SPARSE_AUTOGRAD_NCTAID_X) +
        get(SPARSE_AUTOGRAD_CTAID_X);
    int64_t thread = (get(SPARSE_AUTOGRAD_TID_Z) * get(SPARSE_AUTOGRAD_NTID_Y) +
                      get(SPARSE_AUTOGRAD_TID_Y)) *
                         get(SPARSE_AUTOGRAD_NTID_X) +
                     get(SPARSE_AUTOGRAD_TID_X);
    int64_t threads = get(SPARSE_AUTOGRAD_NTID_X) *
                      get(SPARSE_AUTOGRAD_NTID_Y) * get(SPARSE_AUTOGRAD_NTID_Z);
    if (get(SPARSE_AUTOGRAD_LANEID) == thread % 32 &&
        get(SPARSE_AUTOGRAD_WARPID) == thread / 32 &&
        get(SPARSE_AUTOGRAD_NWARPID) == (threads + 31) / 32)
      atomicAdd(&out[block * threads + thread], 1);
  };
  for (uint64_t seed : someSeeds()) {
    Device device(seed);
    int32_t *out = device.allocate(std::vector<int32_t>(5 * 3 * 2 * 7 * 3 * 2));
    SparseAutogradEmulatorLaunch launch = {{5, 3, 2}, {7, 3, 2}, 0};
    ASSERT_EQ(device.launchWith(kernel, launch, out), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
    for (int i = 0; i < 5 * 3 * 2 * 7 * 3 * 2; ++i)
      ASSERT_EQ(out[i], 1);
    EXPECT_EQ(device.counters().blocks, 30);
  }
}

TEST(Launch, LaneMasks) {
  auto kernel = [](void **parameters) {
    uint32_t *out = parameter<uint32_t *>(parameters, 0);
    for (int32_t i = 0; i < 5; ++i)
      store(&out[5 * threadId() + i],
            static_cast<uint32_t>(sparseAutogradEmulateRegister(
                SPARSE_AUTOGRAD_LANEMASK_EQ + i)));
  };
  Device device;
  uint32_t *out = device.allocate(std::vector<uint32_t>(5 * 32));
  ASSERT_EQ(device.launch(kernel, 1, 32, 0, out), SPARSE_AUTOGRAD_SUCCESS);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t other = 0; other < 32; ++other) {
      EXPECT_EQ(out[5 * lane] >> other & 1, other == lane);
      EXPECT_EQ(out[5 * lane + 1] >> other & 1, other < lane);
      EXPECT_EQ(out[5 * lane + 2] >> other & 1, other <= lane);
      EXPECT_EQ(out[5 * lane + 3] >> other & 1, other > lane);
      EXPECT_EQ(out[5 * lane + 4] >> other & 1, other >= lane);
    }
}

TEST(Launch, SharedMemoryBelongsToABlock) {
  // Each block adds to what it finds there: nothing, hence it writes first.
  auto kernel = [](void **parameters) {
    int64_t *out = parameter<int64_t *>(parameters, 0);
    int64_t *number = shared<int64_t>();
    store(number, int64_t(blockId()));
    store(&out[blockId()],
          load(number) + int64_t(sparseAutogradEmulateRegister(
                             SPARSE_AUTOGRAD_TOTAL_SMEM_SIZE)));
  };
  Device device;
  int64_t *out = device.allocate(std::vector<int64_t>(4));
  ASSERT_EQ(device.launch(kernel, 4, 1, 64, out), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_THAT(std::vector<int64_t>(out, out + 4),
              testing::ElementsAre(64, 65, 66, 67));
}

TEST(Launch, Impossible) {
  auto kernel = [](void **) {};
  Device device;
  constexpr int32_t fault = SPARSE_AUTOGRAD_EMULATOR_IMPOSSIBLE_LAUNCH;
  auto launch = [&](int64_t gx, int64_t gy, int64_t gz, int64_t bx, int64_t by,
                    int64_t bz, int64_t sharedBytes) {
    SparseAutogradEmulatorLaunch launch = {
        {gx, gy, gz}, {bx, by, bz}, sharedBytes};
    return device.launchWith(kernel, launch);
  };
  EXPECT_FAULT(device, launch(0, 1, 1, 1, 1, 1, 0), fault,
               "kernel 'k': a grid of 0 blocks in x is impossible");
  EXPECT_EQ(device.report().status, SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(device.report().thread[0], -1);
  EXPECT_FAULT(device, launch(1, 65536, 1, 1, 1, 1, 0), fault,
               "a grid of 65536 blocks in y is impossible: 1 to 65535");
  EXPECT_FAULT(device, launch(65535, 65535, 2, 1, 1, 1, 0), fault,
               "takes up to 2^31 - 1 in all");
  EXPECT_FAULT(device, launch(1, 1, 1, 1025, 1, 1, 0), fault,
               "a block of 1025 threads in x is impossible");
  EXPECT_FAULT(device, launch(1, 1, 1, 1, 1, 65, 0), fault,
               "a block of 65 threads in z is impossible: 1 to 64");
  EXPECT_FAULT(device, launch(1, 1, 1, 64, 32, 1, 0), fault,
               "a block of 2048 threads is impossible: it may have 1024");
  EXPECT_FAULT(device, launch(1, 1, 1, 1, 1, 1, 227 * 1024 + 1), fault,
               "232449 bytes of dynamic shared memory, besides 0 of variables: "
               "a block may have 232448");
  EXPECT_FAULT(device, launch(1, 1, 1, 1, 1, 1, -1), fault,
               "-1 bytes of dynamic shared memory");
  EXPECT_EQ(launch(1, 1, 1, 32, 32, 1, 227 * 1024), SPARSE_AUTOGRAD_SUCCESS);
}

TEST(Launch, WhatAKernelIsCompiledFor) {
  Device device;
  SparseAutogradEmulatorKernel kernel = {};
  kernel.name = "k";
  kernel.function = [](void **) {};
  SparseAutogradEmulatorLaunch launch = {{1, 1, 1}, {64, 1, 1}, 0};
  auto run = [&] {
    return sparseAutogradEmulatorLaunch(device.get(), &kernel, &launch,
                                        nullptr);
  };
  constexpr int32_t fault = SPARSE_AUTOGRAD_EMULATOR_IMPOSSIBLE_LAUNCH;
  EXPECT_EQ(run(), SPARSE_AUTOGRAD_SUCCESS);
  kernel.maxThreads = 32;
  EXPECT_FAULT(device, run(), fault, "it may have 32");
  kernel.maxThreads = 64;
  EXPECT_EQ(run(), SPARSE_AUTOGRAD_SUCCESS);
  kernel.requiredBlock[0] = 128;
  kernel.requiredBlock[1] = kernel.requiredBlock[2] = 1;
  EXPECT_FAULT(device, run(), fault,
               "a block of 64 x 1 x 1 threads, but the kernel is compiled for "
               "128 x 1 x 1");
  kernel.requiredBlock[0] = 64;
  EXPECT_EQ(run(), SPARSE_AUTOGRAD_SUCCESS);
  kernel.staticSharedBytes = 48 * 1024 + 1;
  EXPECT_FAULT(device, run(), fault, "its variables take 49153 bytes");
  kernel.staticSharedBytes = 48 * 1024;
  launch.dynamicSharedBytes = 227 * 1024;
  EXPECT_FAULT(device, run(), fault, "besides 49152 of variables");
  launch.dynamicSharedBytes = 0;
  kernel.stackBytes = (512 << 10) + 1;
  EXPECT_FAULT(device, run(), fault, "its local variables take 524289 bytes");
  kernel.stackBytes = 512 << 10;
  EXPECT_EQ(run(), SPARSE_AUTOGRAD_SUCCESS);
}

TEST(Launch, OptionsOfAnotherChip) {
  SparseAutogradEmulatorOptions options = withSeed(0);
  options.maxSharedBytes = 99 << 10;
  options.maxDeviceBytes = 1000;
  Device device(options);
  EXPECT_FAULT(device, device.launch([](void **) {}, 1, 1, 100 << 10),
               SPARSE_AUTOGRAD_EMULATOR_IMPOSSIBLE_LAUNCH, "may have 101376");
  void *first = sparseAutogradEmulatorAllocate(device.get(), 600);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(sparseAutogradEmulatorAllocate(device.get(), 401), nullptr);
  EXPECT_EQ(device.report().status, SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  EXPECT_EQ(device.message(), "out of device memory: 401 bytes were asked for, "
                              "600 are in use");
  EXPECT_EQ(sparseAutogradEmulatorFree(device.get(), first),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_NE(sparseAutogradEmulatorAllocate(device.get(), 1000), nullptr);

  // More than there is room for.
  options.maxSharedBytes = INT64_MAX;
  options.stackBytes = 0;
  Device other(options);
  auto last = [](void **) { store(&shared<char>()[(16 << 20) - 1], 'x'); };
  EXPECT_EQ(other.launch(last, 1, 1, 16 << 20), SPARSE_AUTOGRAD_SUCCESS)
      << other.message();
  EXPECT_FAULT(other, other.launch(last, 1, 1, (16 << 20) + 1),
               SPARSE_AUTOGRAD_EMULATOR_IMPOSSIBLE_LAUNCH, "may have 16777216");
}

TEST(Launch, Buffers) {
  Device device;
  auto *buffer =
      static_cast<char *>(sparseAutogradEmulatorAllocate(device.get(), 100));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 256, 0u);
  float number;
  std::memcpy(&number, buffer, sizeof(number));
  EXPECT_TRUE(std::isnan(number));
  auto contains = [&](const void *address, int64_t bytes) {
    return sparseAutogradEmulatorContains(device.get(), address, bytes) != 0;
  };
  EXPECT_TRUE(contains(buffer, 100));
  EXPECT_TRUE(contains(buffer + 99, 1));
  EXPECT_FALSE(contains(buffer + 99, 2));
  EXPECT_FALSE(contains(buffer - 1, 1));
  EXPECT_FALSE(contains(buffer, -1));
  EXPECT_EQ(sparseAutogradEmulatorAllocate(device.get(), -1), nullptr);
  // Empty buffers have addresses of their own.
  void *empty = sparseAutogradEmulatorAllocate(device.get(), 0);
  EXPECT_NE(empty, nullptr);
  EXPECT_EQ(sparseAutogradEmulatorFree(device.get(), empty),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(sparseAutogradEmulatorFree(device.get(), buffer),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(sparseAutogradEmulatorFree(device.get(), buffer),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(device.report().fault, SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT);
  EXPECT_EQ(sparseAutogradEmulatorFree(device.get(), nullptr),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_FALSE(contains(buffer, 1));
}

TEST(Launch, SeedOfTheEnvironment) {
  SparseAutogradEmulatorOptions options;
  setenv("SPARSE_AUTOGRAD_EMULATOR_SEED", "77", 1);
  sparseAutogradEmulatorGetDefaultOptions(&options);
  EXPECT_EQ(options.seed, 77u);
  setenv("SPARSE_AUTOGRAD_EMULATOR_SEED", "seven", 1);
  sparseAutogradEmulatorGetDefaultOptions(&options);
  EXPECT_EQ(options.seed, 0u);
  unsetenv("SPARSE_AUTOGRAD_EMULATOR_SEED");
}

TEST(Launch, ModuleOfAnotherVersion) {
  Device device;
  SparseAutogradEmulatorModule module = {};
  module.version = SPARSE_AUTOGRAD_EMULATOR_VERSION + 1;
  EXPECT_EQ(sparseAutogradEmulatorAddModule(device.get(), &module),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

TEST(Launch, ErrorsLeaveNothingBehind) {
  // After each of many faults the same emulator works.
  auto fails = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    store(&shared<int32_t>()[threadId()], threadId());
    if (threadId() == 40)
      sparseAutogradEmulateTrap("fails", HERE);
    barrier(HERE);
    store(&out[threadId()], 1);
  };
  auto works = [](void **parameters) {
    store(&parameter<int32_t *>(parameters, 0)[threadId()], threadId());
  };
  Device device(9);
  int32_t *out = device.allocate(std::vector<int32_t>(64));
  for (int i = 0; i < 100; ++i) {
    EXPECT_FAULT(device, device.launch(fails, 3, 64, 256, out),
                 SPARSE_AUTOGRAD_EMULATOR_ASSERTION,
                 "thread (40, 0, 0) fails, at [line");
    ASSERT_EQ(device.launch(works, 1, 64, 0, out), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_EQ(out[63], 63);
  }
}

TEST(Launch, Exit) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    if (threadId() % 2)
      sparseAutogradEmulateExit();
    store(&out[threadId()], 1);
  };
  Device device;
  int32_t *out = device.allocate(std::vector<int32_t>(4));
  ASSERT_EQ(device.launch(kernel, 1, 4, 0, out), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_THAT(std::vector<int32_t>(out, out + 4),
              testing::ElementsAre(1, 0, 1, 0));
}
