//===- EmulatedTest.cpp - The emulator as a device --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"

#include <thread>

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static int64_t getThread() {
  return sparseAutogradEmulateRegister(SPARSE_AUTOGRAD_CTAID_X) *
             int64_t(sparseAutogradEmulateRegister(SPARSE_AUTOGRAD_NTID_X)) +
         sparseAutogradEmulateRegister(SPARSE_AUTOGRAD_TID_X);
}

/// x[i] *= 2, for i < count.
static void scale(void **parameters) {
  double *x = *static_cast<double **>(parameters[0]);
  int64_t count = *static_cast<int64_t *>(parameters[1]);
  int64_t i = getThread();
  if (i >= count)
    return;
  sparseAutogradEmulateAccess(x + i, 8, 8, SPARSE_AUTOGRAD_LOAD, "load");
  double value = x[i];
  sparseAutogradEmulateAccess(x + i, 8, 8, SPARSE_AUTOGRAD_STORE, "store");
  x[i] = 2 * value;
}

/// All threads write to x[0].
static void race(void **parameters) {
  double *x = *static_cast<double **>(parameters[0]);
  sparseAutogradEmulateAccess(x, 8, 8, SPARSE_AUTOGRAD_STORE, "store");
  x[0] = static_cast<double>(getThread());
}

static int32_t variable = 5;

/// x[0] = a variable of the module.
static void readVariable(void **parameters) {
  double *x = *static_cast<double **>(parameters[0]);
  if (getThread() != 0)
    return;
  sparseAutogradEmulateAccess(&variable, 4, 4, SPARSE_AUTOGRAD_LOAD, "load");
  sparseAutogradEmulateAccess(x, 8, 8, SPARSE_AUTOGRAD_STORE, "store");
  x[0] = variable;
}

static const SparseAutogradEmulatorKernel kernels[] = {
    {"scale", scale, 2, 0, 0, {0, 0, 0}, 0},
    {"race", race, 1, 0, 0, {0, 0, 0}, 0},
    {"variable", readVariable, 1, 0, 0, {0, 0, 0}, 0}};
static const SparseAutogradEmulatorVariable variables[] = {
    {"variable", &variable, 4, 0}};
static const SparseAutogradEmulatorModule module = {
    SPARSE_AUTOGRAD_EMULATOR_VERSION, 3, 1, kernels, variables};

namespace {
class Emulated : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(sparseAutogradSetDevice("emulated"), SPARSE_AUTOGRAD_SUCCESS);
    sparseAutogradResetDeviceCounters();
  }
  void TearDown() override {
    EXPECT_EQ(deviceCounters().liveBlocks, 0);
    EXPECT_EQ(sparseAutogradCloseDevices(), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_EQ(sparseAutogradSetDevice(nullptr), SPARSE_AUTOGRAD_SUCCESS);
  }

  /// For GPUs, which are passed over, and the emulator.
  Image image{
      {makeCode(SPARSE_AUTOGRAD_CODE_CUBIN, 90, "code"),
       {SPARSE_AUTOGRAD_CODE_HOST, 0, 0, 0, &module, sizeof(module), nullptr}}};
};
} // namespace

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

TEST_F(Emulated, ComputesOnTheDevice) {
  double from[] = {1, 2, 3}, to[3] = {};
  for (int step = 0; step < 3; ++step) {
    ASSERT_EQ(runEntry([&] { doubleOnDevice(image, from, to, 3); }), 0)
        << lastError();
    EXPECT_THAT(to, testing::ElementsAre(2, 4, 6));
  }
  SparseAutogradDeviceCounters counters = deviceCounters();
  EXPECT_EQ(counters.launches, 3);
  EXPECT_EQ(counters.loads, 1);
  EXPECT_EQ(counters.abandonedBlocks, 0);
  EXPECT_EQ(counters.bytesCopiedIn, 72);
}

TEST_F(Emulated, CopiesAndFills) {
  double to[4] = {};
  ASSERT_EQ(runEntry([&] {
              auto *x = static_cast<double *>(sparseAutogradDeviceAllocate(32));
              auto *y = static_cast<double *>(sparseAutogradDeviceAllocate(32));
              double one = 1;
              uint64_t pattern;
              std::memcpy(&pattern, &one, 8);
              sparseAutogradDeviceFill(x, 4, 8, pattern);
              sparseAutogradDeviceFill(x + 1, 16, 1, 0);
              sparseAutogradDeviceCopy(y, x, 32);
              sparseAutogradDeviceCopyOut(to, y, 32);
              sparseAutogradDeviceDeallocate(x);
              sparseAutogradDeviceDeallocate(y);
            }),
            0)
      << lastError();
  EXPECT_THAT(to, testing::ElementsAre(1, 0, 0, 1));
}

TEST_F(Emulated, SeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<double> results(4);
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] {
      double from = static_cast<double>(i);
      for (int step = 0; step < 20; ++step)
        if (runEntry([&] { doubleOnDevice(image, &from, &results[i], 1); }))
          results[i] = -1;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(results, testing::ElementsAre(0, 2, 4, 6));
}

TEST_F(Emulated, VariablesOfModulesThatComeAndGo) {
  for (int round = 0; round < 2; ++round) {
    Image other({{SPARSE_AUTOGRAD_CODE_HOST, 0, 0, 0, &module, sizeof(module),
                  nullptr}});
    double to = 0;
    ASSERT_EQ(runEntry([&] {
                void *x = sparseAutogradDeviceAllocate(8);
                void *parameters[] = {&x};
                launch(other, "variable", parameters, 1);
                sparseAutogradDeviceCopyOut(&to, x, 8);
                sparseAutogradDeviceDeallocate(x);
              }),
              0)
        << lastError();
    EXPECT_EQ(to, 5);
  }
}

TEST_F(Emulated, SaysWhatItIs) {
  SparseAutogradDeviceInfo info;
  ASSERT_EQ(sparseAutogradGetDeviceInfo(&info), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_STREQ(info.device, "emulated:0");
  EXPECT_STREQ(info.name, "a GPU, emulated on the CPU");
  EXPECT_EQ(info.computeMajor, 9);
  EXPECT_EQ(info.maxSharedBytes, 227 * 1024);
  EXPECT_GT(info.totalBytes, 0);
  EXPECT_EQ(info.pooledBytes, 0);
  EXPECT_EQ(sparseAutogradGetDeviceInfo(nullptr),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  // There is nowhere to write to, and no status.
  sparseAutogradGetDeviceCounters(nullptr);
  sparseAutogradGetCounters(nullptr);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

template <typename Body>
static void expectError(int32_t status, const std::string &message, Body body) {
  EXPECT_EQ(runEntry(body), status);
  EXPECT_THAT(lastError(), testing::HasSubstr(message));
  EXPECT_EQ(deviceCounters().liveBlocks, 0);
}

TEST_F(Emulated, ReportsWhatKernelsDoWrong) {
  // The seed is in the report, and the device is fit for more.
  ASSERT_EQ(sparseAutogradSetDevice("emulated:7"), SPARSE_AUTOGRAD_SUCCESS);
  expectError(SPARSE_AUTOGRAD_RUNTIME_ERROR, "kernel 'race'", [&] {
    void *x = sparseAutogradDeviceAllocate(8);
    void *parameters[] = {&x};
    launch(image, "race", parameters, 1);
  });
  EXPECT_THAT(lastError(), testing::HasSubstr("seed 7"));
  expectError(SPARSE_AUTOGRAD_OUT_OF_RANGE, "kernel 'scale'", [&] {
    void *x = sparseAutogradDeviceAllocate(8);
    int64_t count = 2;
    void *parameters[] = {&x, &count};
    launch(image, "scale", parameters, 2);
  });
  double from = 1, to = 0;
  EXPECT_EQ(runEntry([&] { doubleOnDevice(image, &from, &to, 1); }), 0);
  EXPECT_EQ(to, 2);
}

TEST_F(Emulated, RefusesWhatIsNotThere) {
  Image forGPUs("kernels: scale");
  expectError(SPARSE_AUTOGRAD_RUNTIME_ERROR,
              "kernel 'scale' was not compiled for the emulator: the program "
              "has it for GPUs only",
              [&] { launch(forGPUs, "scale"); });
  SparseAutogradEmulatorModule later = module;
  ++later.version;
  Image ofLater(
      {{SPARSE_AUTOGRAD_CODE_HOST, 0, 0, 0, &later, sizeof(later), nullptr}});
  expectError(SPARSE_AUTOGRAD_RUNTIME_ERROR, "compiled for version 3",
              [&] { launch(ofLater, "scale"); });
  expectError(SPARSE_AUTOGRAD_RUNTIME_ERROR,
              "there is no kernel 'other' in the code for the emulator",
              [&] { launch(image, "other"); });
  expectError(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
              "kernel 'scale': it has 2 parameters, not 0",
              [&] { launch(image, "scale"); });
}

TEST_F(Emulated, RefusesWhatIsOutsideOfMemory) {
  char bytes[16] = {};
  expectError(
      SPARSE_AUTOGRAD_OUT_OF_RANGE,
      "a copy from the host writes 16 bytes that are not in one buffer", [&] {
        sparseAutogradDeviceCopyIn(sparseAutogradDeviceAllocate(8), bytes, 16);
      });
  expectError(
      SPARSE_AUTOGRAD_OUT_OF_RANGE,
      "a copy to the host reads 16 bytes that are not in one buffer", [&] {
        sparseAutogradDeviceCopyOut(bytes, sparseAutogradDeviceAllocate(8), 16);
      });
  expectError(SPARSE_AUTOGRAD_OUT_OF_RANGE,
              "a fill writes 16 bytes that are not in one buffer", [&] {
                sparseAutogradDeviceFill(sparseAutogradDeviceAllocate(8), 4, 4,
                                         0);
              });
  for (bool isSource : {true, false})
    expectError(SPARSE_AUTOGRAD_OUT_OF_RANGE,
                isSource ? "a copy on the device reads 16 bytes"
                         : "a copy on the device writes 16 bytes",
                [&] {
                  void *small = sparseAutogradDeviceAllocate(8);
                  void *large = sparseAutogradDeviceAllocate(16);
                  sparseAutogradDeviceCopy(isSource ? large : small,
                                           isSource ? small : large, 16);
                });
}
