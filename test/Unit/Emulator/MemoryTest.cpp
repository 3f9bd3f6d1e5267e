//===- MemoryTest.cpp - Accesses outside of memory --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

constexpr int32_t outOfBounds = SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS;

/// Reads (kind 0), writes or updates an i32 at a byte offset of a buffer.
static void accessBuffer(void **parameters) {
  char *buffer = parameter<char *>(parameters, 0);
  int64_t offset = parameter<int64_t>(parameters, 1);
  auto *place = reinterpret_cast<int32_t *>(buffer + offset);
  switch (parameter<int32_t>(parameters, 2)) {
  case 0:
    load(place, HERE);
    break;
  case 1:
    store(place, 1, HERE);
    break;
  default:
    atomicAdd(place, 1, HERE);
  }
}

TEST(Memory, OutsideOfABuffer) {
  Device device;
  int32_t *buffer = device.allocate(std::vector<int32_t>(10));
  auto access = [&](int64_t offset, int32_t kind = 0) {
    return device.launch(accessBuffer, 1, 1, 0, buffer, offset, kind);
  };
  for (int32_t kind = 0; kind < 3; ++kind) {
    EXPECT_EQ(access(0, kind), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_EQ(access(36, kind), SPARSE_AUTOGRAD_SUCCESS);
  }
  EXPECT_FAULT(device, access(40), outOfBounds,
               "thread (0, 0, 0) reads 4 bytes at address 0x");
  EXPECT_EQ(device.report().status, SPARSE_AUTOGRAD_OUT_OF_RANGE);
  EXPECT_THAT(
      device.message(),
      testing::HasSubstr(
          ", 0 bytes behind the end of a buffer of 40 bytes, at [line "));
  EXPECT_FAULT(device, access(48, 1), outOfBounds,
               "writes 4 bytes at address 0x");
  EXPECT_THAT(device.message(),
              testing::HasSubstr("8 bytes behind the end of a buffer of 40"));
  EXPECT_FAULT(device, access(-4, 2), outOfBounds,
               "atomically updates 4 bytes at address 0x");
  EXPECT_THAT(device.message(),
              testing::HasSubstr("4 bytes before the begin of a buffer of 40"));
}

TEST(Memory, AcrossTheEndOfABuffer) {
  Device device;
  char *buffer = device.allocate(std::vector<char>(42));
  EXPECT_FAULT(device,
               device.launch(accessBuffer, 1, 1, 0, buffer, int64_t(40), 0),
               outOfBounds, "40 bytes from the begin of a buffer of 42 bytes");
}

TEST(Memory, OfNoBuffer) {
  Device device;
  char *none = nullptr;
  EXPECT_FAULT(device,
               device.launch(accessBuffer, 1, 1, 0, none, int64_t(0), 0),
               outOfBounds, "reads 4 bytes at address 0x0, in no buffer");
  int32_t ofTheHost = 0;
  EXPECT_FAULT(device,
               device.launch(accessBuffer, 1, 1, 0, &ofTheHost, int64_t(0), 1),
               outOfBounds, "writes 4 bytes at address 0x");
}

TEST(Memory, OfABufferThatWasReleased) {
  Device device;
  int32_t *buffer = device.allocate(std::vector<int32_t>(10));
  EXPECT_EQ(device.launch(accessBuffer, 1, 1, 0, buffer, int64_t(0), 0),
            SPARSE_AUTOGRAD_SUCCESS);
  sparseAutogradEmulatorFree(device.get(), buffer);
  EXPECT_FAULT(device,
               device.launch(accessBuffer, 1, 1, 0, buffer, int64_t(0), 0),
               outOfBounds, "in no buffer");
}

TEST(Memory, EachBufferOfMany) {
  Device device;
  std::vector<int32_t *> buffers;
  for (int32_t i = 0; i < 100; ++i)
    buffers.push_back(device.allocate(std::vector<int32_t>(i + 1)));
  for (int32_t i = 0; i < 100; i += 3)
    sparseAutogradEmulatorFree(device.get(), buffers[i]);
  for (int32_t i = 0; i < 100; ++i) {
    int32_t status =
        device.launch(accessBuffer, 1, 1, 0, buffers[i], int64_t(4) * i, 0);
    EXPECT_EQ(status == SPARSE_AUTOGRAD_SUCCESS, i % 3 != 0);
    EXPECT_NE(device.launch(accessBuffer, 1, 1, 0, buffers[i],
                            int64_t(4) * (i + 1), 0),
              SPARSE_AUTOGRAD_SUCCESS);
  }
}

TEST(Memory, Misaligned) {
  Device device;
  int32_t *buffer = device.allocate(std::vector<int32_t>(10));
  EXPECT_FAULT(
      device, device.launch(accessBuffer, 1, 1, 0, buffer, int64_t(6), 0),
      SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, "which is not aligned to 4 bytes");
}

TEST(Memory, OutsideOfSharedMemory) {
  auto kernel = [](void **parameters) {
    int64_t offset = parameter<int64_t>(parameters, 0);
    store(reinterpret_cast<int32_t *>(shared<char>() + offset), 1, HERE);
  };
  Device device;
  EXPECT_EQ(device.launch(kernel, 1, 1, 128, int64_t(124)),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 128, int64_t(128)),
               outOfBounds,
               "writes 4 bytes at offset 128 of shared memory, of which the "
               "block has 128 bytes");
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 126, int64_t(124)),
               outOfBounds, "of which the block has 126 bytes");
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 128, int64_t(-4)),
               outOfBounds, "writes 4 bytes at offset -4 of shared memory");
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 0, int64_t(0)), outOfBounds,
               "of which the block has 0 bytes");
}

TEST(Memory, UninitializedSharedMemory) {
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    int32_t written = parameter<int32_t>(parameters, 1);
    int32_t *numbers = shared<int32_t>();
    if (threadId() < written)
      store(&numbers[threadId()], 1);
    barrier(HERE);
    store(&out[16 * blockId() + threadId()],
          load(&numbers[threadId()], "the read"));
  };
  Device device;
  int32_t *out = device.allocate(std::vector<int32_t>(32));
  EXPECT_EQ(device.launch(kernel, 2, 16, 64, out, 16), SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  // What the launch before has written does not count.
  EXPECT_FAULT(device, device.launch(kernel, 1, 16, 64, out, 15),
               SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED,
               "thread (15, 0, 0) reads 4 bytes at offset 60 of shared memory, "
               "of which no thread has written byte 60, at [the read]");
  // What the block before has written does not count.
  auto first = [](void **) {
    if (blockId() == 0)
      store(shared<int32_t>(), 1);
    load(shared<int32_t>(), HERE);
  };
  EXPECT_FAULT(device, device.launch(first, 2, 1, 64),
               SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED, "block (1, 0, 0)");
  // A part of what is read.
  auto half = [](void **) {
    store(shared<int16_t>(), int16_t(1));
    load(shared<int32_t>(), HERE);
  };
  EXPECT_FAULT(device, device.launch(half, 1, 1, 64),
               SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED,
               "no thread has written byte 2");
  auto update = [](void **) { atomicAdd(shared<int32_t>(), 1); };
  EXPECT_FAULT(device, device.launch(update, 1, 1, 64),
               SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED, "atomically updates");
}

TEST(Memory, OfTheOwnStackOnly) {
  // Thread 0 publishes the address of a variable of its own.
  auto kernel = [](void **parameters) {
    // Of a size that is not known, so that the address sanitizer leaves it
    // there.
    auto *local =
        static_cast<int32_t *>(__builtin_alloca(4 * (1 + threadId())));
    sparseAutogradEmulateLocal(local, 4, HERE);
    store(local, 7);
    int32_t **published = parameter<int32_t **>(parameters, 0);
    load(local);
    if (sparseAutogradEmulateSpace(local) != SPARSE_AUTOGRAD_SPACE_LOCAL)
      sparseAutogradEmulateTrap("is wrong about its own variables", HERE);
    if (threadId() == 0)
      store(published, local);
    barrier(HERE);
    if (threadId() == 1)
      load(load(published), "the read");
    barrier(HERE);
  };
  Device device;
  int32_t **published = device.allocate(std::vector<int32_t *>(1));
  EXPECT_FAULT(device, device.launch(kernel, 1, 2, 0, published), outOfBounds,
               "in the local memory of thread (0, 0, 0), at [the read]");
}

TEST(Memory, Spaces) {
  static const int32_t constant = 5;
  static int32_t variable = 5;
  auto kernel = [](void **parameters) {
    int32_t *out = parameter<int32_t *>(parameters, 0);
    const void *addresses[] = {out, shared<char>(), &constant, &variable,
                               nullptr};
    for (int i = 0; i < 5; ++i)
      store(&out[i], sparseAutogradEmulateSpace(addresses[i]));
    load(&constant);
    if (parameter<int32_t>(parameters, 1))
      store(const_cast<int32_t *>(&constant), 5, HERE);
    else
      store(&variable, load(&variable) + 1);
  };
  SparseAutogradEmulatorVariable variables[] = {
      {"constant", const_cast<int32_t *>(&constant), 4, 1},
      {"variable", &variable, 4, 0}};
  SparseAutogradEmulatorModule module = {};
  module.version = SPARSE_AUTOGRAD_EMULATOR_VERSION;
  module.variableCount = 2;
  module.variables = variables;
  Device device;
  int32_t *out = device.allocate(std::vector<int32_t>(5));
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 4, out, 0), outOfBounds,
               "in no buffer");
  ASSERT_EQ(sparseAutogradEmulatorAddModule(device.get(), &module),
            SPARSE_AUTOGRAD_SUCCESS);
  ASSERT_EQ(device.launch(kernel, 1, 1, 4, out, 0), SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  EXPECT_EQ(variable, 6);
  EXPECT_THAT(std::vector<int32_t>(out, out + 5),
              testing::ElementsAre(
                  SPARSE_AUTOGRAD_SPACE_GLOBAL, SPARSE_AUTOGRAD_SPACE_SHARED,
                  SPARSE_AUTOGRAD_SPACE_CONSTANT, SPARSE_AUTOGRAD_SPACE_GLOBAL,
                  SPARSE_AUTOGRAD_SPACE_NONE));
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 4, out, 1), outOfBounds,
               "writes 4 bytes of the constant 'constant'");
  sparseAutogradEmulatorRemoveModule(device.get(), &module);
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 4, out, 0), outOfBounds,
               "in no buffer");
}
