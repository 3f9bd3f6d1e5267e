//===- LocalMemoryTest.cpp - Variables, stacks and divisions ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

constexpr int32_t outOfBounds = SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS;
constexpr int32_t unwritten = SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED;

/// A variable of four numbers, and an access of one at a byte offset: of this
/// variable, or of any if `isAnonymous`.
static void accessVariable(void **parameters) {
  auto *variable = static_cast<char *>(__builtin_alloca(16 * (1 + threadId())));
  sparseAutogradEmulateLocal(variable, 16, "the variable");
  int64_t offset = parameter<int64_t>(parameters, 0);
  int32_t kind = parameter<int32_t>(parameters, 1);
  if (parameter<int32_t>(parameters, 2))
    sparseAutogradEmulateAccess(variable + offset, 4, 4, kind, "the access");
  else
    sparseAutogradEmulateLocalAccess(variable, variable + offset, 4, 4, kind,
                                     "the access");
}

TEST(LocalMemory, OutsideOfAVariable) {
  Device device;
  auto access = [&](int64_t offset, int32_t kind, int32_t isAnonymous) {
    return device.launch(accessVariable, 1, 1, 0, offset, kind, isAnonymous);
  };
  for (int32_t kind :
       {int32_t(SPARSE_AUTOGRAD_STORE), int32_t(SPARSE_AUTOGRAD_ATOMIC_STORE)})
    for (int32_t isAnonymous : {0, 1}) {
      EXPECT_EQ(access(12, kind, isAnonymous), SPARSE_AUTOGRAD_SUCCESS)
          << device.message();
      for (int64_t offset : {-4, 16})
        EXPECT_FAULT(device, access(offset, kind, isAnonymous), outOfBounds,
                     "writes 4 bytes at offset " + std::to_string(offset) +
                         " of a local variable of 16 bytes [the variable], at "
                         "[the access]");
    }
  EXPECT_FAULT(device, access(400000000, SPARSE_AUTOGRAD_LOAD, 0), outOfBounds,
               "reads 4 bytes at offset 400000000 of a local variable");
  EXPECT_FAULT(device, access(14, SPARSE_AUTOGRAD_STORE, 0),
               SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, "not aligned to 4 bytes");
}

TEST(LocalMemory, UnwrittenVariable) {
  SparseAutogradEmulatorOptions options = withSeed(0);
  Device device(options);
  EXPECT_FAULT(
      device,
      device.launch(accessVariable, 1, 2, 0, int64_t(4),
                    int32_t(SPARSE_AUTOGRAD_LOAD), 0),
      unwritten,
      "thread (0, 0, 0) reads 4 bytes at offset 4 of a local variable "
      "of 16 bytes [the variable], of which it has not written byte 4");
  options.detectUnwritten = 0;
  Device lenient(options);
  EXPECT_EQ(lenient.launch(accessVariable, 1, 2, 0, int64_t(4),
                           int32_t(SPARSE_AUTOGRAD_LOAD), 0),
            SPARSE_AUTOGRAD_SUCCESS);
}

TEST(LocalMemory, FramesEnd) {
  // What a frame before has written does not count, nor is its variable there.
  auto kernel = [](void **parameters) {
    auto *variable = static_cast<int32_t *>(__builtin_alloca(64));
    int32_t frame = sparseAutogradEmulateBeginFrame();
    sparseAutogradEmulateLocal(variable, 4, HERE);
    store(variable, 1, HERE);
    load(variable, HERE);
    sparseAutogradEmulateEndFrame(frame);
    if (parameter<int32_t>(parameters, 0)) {
      sparseAutogradEmulateLocal(variable, 4, HERE);
      load(variable, "the read");
    } else {
      store(variable, 1, "the write");
    }
  };
  Device device;
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 0, 1), unwritten,
               "at [the read]");
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 0, 0), outOfBounds,
               "where no variable is, at [the write]");
}

TEST(LocalMemory, StackOverflow) {
  auto kernel = [](void **parameters) {
    sparseAutogradEmulateStack(parameter<int64_t>(parameters, 0), "the call");
  };
  Device device;
  EXPECT_EQ(device.launch(kernel, 1, 1, 0, int64_t(1000)),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_FAULT(device, device.launch(kernel, 1, 1, 0, int64_t(1) << 20),
               SPARSE_AUTOGRAD_EMULATOR_STACK_OVERFLOW,
               "has used up its stack of ");
  EXPECT_THAT(device.message(), testing::HasSubstr("at [the call]"));
}

TEST(LocalMemory, Divisions) {
  auto kernel = [](void **parameters) {
    if (threadId() == 3)
      sparseAutogradEmulateDivision(parameter<int32_t>(parameters, 0), HERE);
  };
  Device device;
  EXPECT_FAULT(device, device.launch(kernel, 1, 32, 0, 0),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_DIVISION,
               "thread (3, 0, 0) divides an integer by zero");
  EXPECT_FAULT(device, device.launch(kernel, 1, 32, 0, 1),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_DIVISION,
               "divides the least integer by -1, which overflows");
}

//===----------------------------------------------------------------------===//
// Buffers that nothing has written
//===----------------------------------------------------------------------===//

static void readAndWrite(void **parameters) {
  int32_t *from = parameter<int32_t *>(parameters, 0);
  int32_t *to = parameter<int32_t *>(parameters, 1);
  store(&to[threadId()], load(&from[threadId()], "the read"), HERE);
}

TEST(Unwritten, Buffers) {
  Device device;
  auto allocate = [&](int64_t count) {
    return static_cast<int32_t *>(
        sparseAutogradEmulatorAllocate(device.get(), 4 * count));
  };
  int32_t *a = allocate(8), *b = allocate(8), *c = allocate(8);
  auto copy = [&](int32_t *from, int32_t *to, int64_t threads) {
    return device.launch(readAndWrite, 1, threads, 0, from, to);
  };
  EXPECT_FAULT(device, copy(a, b, 4), unwritten,
               "thread (0, 0, 0) reads 4 bytes at offset 0 of a buffer of 32 "
               "bytes, of which nothing has written byte 0, at [the read]");
  // The host writes a part.
  std::fill_n(a, 4, 1);
  sparseAutogradEmulatorMarkWritten(device.get(), a, 16);
  EXPECT_EQ(copy(a, b, 4), SPARSE_AUTOGRAD_SUCCESS) << device.message();
  EXPECT_FAULT(device, copy(a, b, 5), unwritten, "thread (4, 0, 0)");
  // What a kernel writes stays written, and a copy is written where its source
  // is.
  EXPECT_EQ(copy(b, c, 4), SPARSE_AUTOGRAD_SUCCESS) << device.message();
  ASSERT_EQ(sparseAutogradEmulatorCopy(device.get(), c + 4, b + 2, 16),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(copy(c, b, 6), SPARSE_AUTOGRAD_SUCCESS) << device.message();
  EXPECT_FAULT(device, copy(c, b, 7), unwritten, "at offset 24 of a buffer");
  // Over what was written as a whole.
  sparseAutogradEmulatorMarkWritten(device.get(), a, 32);
  int32_t *d = allocate(8);
  ASSERT_EQ(sparseAutogradEmulatorCopy(device.get(), a, d, 4),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_FAULT(device, copy(a, b, 1), unwritten, "nothing has written byte 0");
  EXPECT_EQ(sparseAutogradEmulatorCopy(device.get(), a, d + 7, 8),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  // Memory that is used again.
  sparseAutogradEmulatorFree(device.get(), b);
  EXPECT_FAULT(device, copy(allocate(8), c, 1), unwritten, "byte 0");
}

TEST(Unwritten, AtomicOperations) {
  auto kernel = [](void **parameters) {
    int32_t *number = parameter<int32_t *>(parameters, 0);
    int32_t kind = parameter<int32_t>(parameters, 1);
    sparseAutogradEmulateAccess(number, 4, 4, kind, "the access");
    atomicAdd(number, 1);
  };
  Device device;
  auto run = [&](int32_t kind) {
    return device.launch(
        kernel, 2, 2, 0,
        static_cast<int32_t *>(sparseAutogradEmulatorAllocate(device.get(), 4)),
        kind);
  };
  // An update reads; an atomic store does not, and races with no update.
  EXPECT_FAULT(device, run(SPARSE_AUTOGRAD_ATOMIC), unwritten,
               "atomically updates 4 bytes at offset 0 of a buffer");
  EXPECT_EQ(run(SPARSE_AUTOGRAD_ATOMIC_STORE), SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
}
