//===- DriverTest.cpp - Drivers and devices that are not there --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {
class Drivers : public DeviceTest {
protected:
  /// The message of an entry that needs a device, and cannot have it.
  static std::string failToOpen() {
    EXPECT_EQ(runEntry([] { sparseAutogradDeviceAllocate(8); }),
              SPARSE_AUTOGRAD_RUNTIME_ERROR);
    return lastError();
  }

  static SparseAutogradDeviceInfo getInfo() {
    SparseAutogradDeviceInfo info = {};
    EXPECT_EQ(sparseAutogradGetDeviceInfo(&info), 0) << lastError();
    return info;
  }
};
using DriversDeathTest = Drivers;
} // namespace

TEST_F(Drivers, TheRuntimeIsLoadedWithoutAny) {
  // This test program has been, and nobody asked for the library.
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
  EXPECT_EQ(fake_driver::countCalls("cuInit"), 0);
}

TEST_F(Drivers, NoLibrary) {
  Variable path("SPARSE_AUTOGRAD_CUDA_DRIVER", "/nowhere/libcuda.so.1");
  EXPECT_THAT(failToOpen(),
              testing::AllOf(
                  testing::StartsWith("the NVIDIA driver cannot be loaded: "
                                      "/nowhere/libcuda.so.1: "),
                  testing::EndsWith(": install it, or, in a container, make it "
                                    "visible (docker run --gpus all)")));
}

TEST_F(Drivers, NotALibrary) {
  Variable path("SPARSE_AUTOGRAD_CUDA_DRIVER", "/dev/null");
  EXPECT_THAT(failToOpen(),
              testing::StartsWith("the NVIDIA driver cannot be loaded: "));
}

TEST_F(Drivers, AnotherLibrary) {
  Variable path("SPARSE_AUTOGRAD_CUDA_DRIVER", INCOMPLETE_DRIVER_PATH);
  std::string expected =
      "the NVIDIA driver (" INCOMPLETE_DRIVER_PATH
      ") has no function cuInit: is it the driver's library?";
  EXPECT_EQ(failToOpen(), expected);
  Variable version("INCOMPLETE_DRIVER_VERSION", "12080");
  EXPECT_EQ(failToOpen(), expected);
}

TEST_F(Drivers, TooOld) {
  fake_driver::settings().version = 11080;
  EXPECT_EQ(failToOpen(), "the NVIDIA driver (" FAKE_DRIVER_PATH
                          ") is too old: it is of CUDA 11.8, and 12.0 is "
                          "needed: update it");
  EXPECT_EQ(fake_driver::countCalls("cuInit"), 0);
  fake_driver::settings().version = 12000;
  EXPECT_EQ(getInfo().driverVersion, 12000);
}

TEST_F(Drivers, SoOldThatFunctionsAreMissing) {
  Variable path("SPARSE_AUTOGRAD_CUDA_DRIVER", INCOMPLETE_DRIVER_PATH);
  Variable version("INCOMPLETE_DRIVER_VERSION", "9020");
  EXPECT_EQ(failToOpen(), "the NVIDIA driver (" INCOMPLETE_DRIVER_PATH
                          ") is too old: it is of CUDA 9.2, and 12.0 is "
                          "needed: update it");
}

TEST_F(Drivers, CannotBeInitialised) {
  fake_driver::failCall("cuInit", 1, 100);
  EXPECT_EQ(failToOpen(),
            "the NVIDIA driver cannot be initialised: CUDA_ERROR_NO_DEVICE "
            "(text of the driver): no GPU is visible: see nvidia-smi and "
            "CUDA_VISIBLE_DEVICES");
  // An error that the driver has no text for.
  fake_driver::failCall("cuInit", 1, 803);
  EXPECT_EQ(failToOpen(),
            "the NVIDIA driver cannot be initialised: CUDA error 803: the "
            "driver's library and its kernel module do not fit: start the "
            "machine again after an update");
  // A failure is not remembered.
  EXPECT_STREQ(getInfo().device, "cuda:0");
}

TEST_F(Drivers, NoDevice) {
  fake_driver::settings().gpus = 0;
  EXPECT_EQ(failToOpen(), "cuda:0: CUDA_ERROR_NO_DEVICE (text of the driver): "
                          "no GPU is visible: see nvidia-smi and "
                          "CUDA_VISIBLE_DEVICES");
}

TEST_F(Drivers, NoSuchDevice) {
  EXPECT_EQ(sparseAutogradSetDevice("cuda:2"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(), "cuda:2 does not exist: CUDA sees 2 GPUs, from cuda:0 "
                         "on (see nvidia-smi and CUDA_VISIBLE_DEVICES)");
  fake_driver::settings().gpus = 1;
  EXPECT_EQ(sparseAutogradSetThreadDevice("cuda:1"),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(), testing::HasSubstr("CUDA sees 1 GPU, "));
  // The choice is what it was.
  EXPECT_STREQ(getInfo().device, "cuda:0");
}

TEST_F(Drivers, NoPools) {
  fake_driver::settings().hasPools = false;
  EXPECT_EQ(failToOpen(), "cuda:0: Fake GPU 0 has no stream-ordered memory "
                          "pools here, which a virtual GPU may lack");
}

TEST_F(Drivers, NamesThatAreNoDevice) {
  for (const char *name : {"", "cud", "cudax", "CUDA", ":0", "emulate:1"}) {
    EXPECT_EQ(sparseAutogradSetDevice(name), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_EQ(lastError(),
              "there is no kind of device called '" + std::string(name) +
                  "': a device is 'cuda' or, by its number, 'cuda:0', or "
                  "'emulated'");
  }
  for (const char *name : {"cuda:", "cuda:-1", "cuda:1x", "cuda: 1",
                           "cuda:1000000000", "cuda:99999999999999999999"}) {
    EXPECT_EQ(sparseAutogradSetDevice(name), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_EQ(lastError(), "'" + std::string(name) +
                               "' is no device: a number follows 'cuda:', as "
                               "in 'cuda:0'");
  }
  EXPECT_EQ(sparseAutogradSetDevice("emulated:x"),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(), "'emulated:x' is no device: a number follows "
                         "'emulated:', as in 'emulated:0'");
  EXPECT_EQ(fake_driver::countCalls("cuInit"), 0);
  // Nine digits are a number.
  EXPECT_EQ(sparseAutogradSetDevice("cuda:999999999"),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
}

TEST_F(Drivers, TheChoiceOfADevice) {
  EXPECT_STREQ(getInfo().device, "cuda:0");
  {
    Variable device("SPARSE_AUTOGRAD_DEVICE", "cuda:1");
    EXPECT_STREQ(getInfo().device, "cuda:1");
    ASSERT_EQ(sparseAutogradSetDevice("cuda"), 0);
    EXPECT_STREQ(getInfo().device, "cuda:0");
    ASSERT_EQ(sparseAutogradSetThreadDevice("cuda:1"), 0);
    EXPECT_STREQ(getInfo().device, "cuda:1");
    std::string ofAnother;
    std::thread([&] { ofAnother = getInfo().device; }).join();
    EXPECT_EQ(ofAnother, "cuda:0");
    ASSERT_EQ(sparseAutogradSetThreadDevice(nullptr), 0);
    EXPECT_STREQ(getInfo().device, "cuda:0");
    ASSERT_EQ(sparseAutogradSetDevice(nullptr), 0);
    EXPECT_STREQ(getInfo().device, "cuda:1");
  }
  Variable device("SPARSE_AUTOGRAD_DEVICE", "gpu");
  EXPECT_THAT(
      [] {
        runEntry([] { sparseAutogradDeviceAllocate(8); });
        return lastError();
      }(),
      testing::StartsWith("there is no kind of device called 'gpu'"));
}

TEST_F(Drivers, AnEntryStaysOnItsDevice) {
  int32_t inner = -1;
  EXPECT_EQ(runEntry([&] {
              void *x = sparseAutogradDeviceAllocate(8);
              sparseAutogradSetThreadDevice("cuda:1");
              double value = 0;
              // On the device of the outer entry, whose memory it gets.
              inner =
                  runEntry([&] { sparseAutogradDeviceCopyOut(&value, x, 8); });
              sparseAutogradDeviceDeallocate(x);
            }),
            0)
      << lastError();
  EXPECT_EQ(inner, 0);
  EXPECT_EQ(fake_driver::countCalls("cuStreamCreate"), 1);
  EXPECT_EQ(runEntry([] { sparseAutogradDeviceAllocate(8); }), 0);
  EXPECT_EQ(fake_driver::countCalls("cuStreamCreate"), 2);
  sparseAutogradSetThreadDevice(nullptr);
}

TEST_F(Drivers, WhatADeviceIs) {
  fake_driver::settings().minor = 3;
  SparseAutogradDeviceInfo info = getInfo();
  EXPECT_STREQ(info.device, "cuda:0");
  EXPECT_STREQ(info.name, "Fake GPU 0");
  EXPECT_EQ(info.driverVersion, 13000);
  EXPECT_EQ(info.computeMajor, 9);
  EXPECT_EQ(info.computeMinor, 3);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.maxSharedBytes, 227 * 1024);
  EXPECT_EQ(info.totalBytes, 1 << 20);
  EXPECT_EQ(info.freeBytes, 1 << 20);
  EXPECT_EQ(info.pooledBytes, 0);
}

TEST_F(Drivers, DevicesAreNotClosedWhileAnEntryUsesOne) {
  int32_t before = -1, during = -1;
  EXPECT_EQ(runEntry([&] {
              before = sparseAutogradCloseDevices();
              sparseAutogradDeviceAllocate(8);
              during = sparseAutogradCloseDevices();
            }),
            0);
  EXPECT_EQ(before, 0);
  EXPECT_EQ(during, SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(lastError(),
            "the devices cannot be closed while an entry uses one");
}

TEST_F(Drivers, ForkedChildrenCannotUseADevice) {
  Image image("kernels: nothing");
  ASSERT_EQ(runEntry([&] { launch(image, "nothing"); }), 0) << lastError();
  int calls = fake_driver::countAllCalls();
  pid_t child = fork();
  if (child == 0) {
    SparseAutogradDeviceInfo info;
    int32_t statuses[] = {runEntry([] { sparseAutogradDeviceAllocate(8); }),
                          runEntry([&] { launch(image, "nothing"); }),
                          sparseAutogradSetDevice("cuda:0"),
                          sparseAutogradSetThreadDevice("cuda:1"),
                          sparseAutogradGetDeviceInfo(&info),
                          sparseAutogradSynchronizeDevice(),
                          sparseAutogradTrimDevicePool(),
                          sparseAutogradSetDevicePoolLimit(5)};
    bool refused = lastError().find("the process was forked after it had "
                                    "opened a device") == 0;
    for (int32_t status : statuses)
      refused &= status == SPARSE_AUTOGRAD_RUNTIME_ERROR;
    sparseAutogradUnloadImage(&image.image);
    refused &= sparseAutogradCloseDevices() == 0;
    refused &= fake_driver::countAllCalls() == calls;
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  // The parent goes on.
  EXPECT_EQ(runEntry([&] { launch(image, "nothing"); }), 0) << lastError();
}

TEST_F(Drivers, AnEntryThatForks) {
  double from = 1, to = 0;
  int status = -1;
  EXPECT_EQ(runEntry([&] {
              void *x = sparseAutogradDeviceAllocate(8);
              sparseAutogradDeviceCopyIn(x, &from, 8);
              int calls = fake_driver::countAllCalls();
              pid_t child = fork();
              if (child == 0) {
                // The error ends an entry that has memory of the parent's.
                int32_t inner =
                    runEntry([&] { sparseAutogradDeviceCopyOut(&to, x, 8); });
                _exit(inner == SPARSE_AUTOGRAD_RUNTIME_ERROR &&
                              fake_driver::countAllCalls() == calls
                          ? 0
                          : 1);
              }
              waitpid(child, &status, 0);
              sparseAutogradDeviceCopyOut(&to, x, 8);
              sparseAutogradDeviceDeallocate(x);
            }),
            0)
      << lastError();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(to, 1);
}

// What processes of their own do: the handlers that run at their end are the
// test. The image goes after these, as a constant of the program does.

static void useDeviceAndExit(bool inEntry, bool driverIsGone) {
  static Image image("kernels: scale");
  double from[] = {1}, to[1] = {};
  if (runEntry([&] { doubleOnDevice(image, from, to, 1); }) != 0 || to[0] != 2)
    _exit(98);
  if (driverIsGone)
    std::atexit([] { fake_driver::settings().isGone = true; });
  else
    fake_driver::demandNothingAliveAtExit();
  if (inEntry)
    runEntry([] {
      sparseAutogradDeviceAllocate(8);
      std::exit(0);
    });
  std::exit(0);
}

TEST_F(DriversDeathTest, EverythingIsReleasedAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(useDeviceAndExit(/*inEntry=*/false, /*driverIsGone=*/false),
              testing::ExitedWithCode(0), "");
}

TEST_F(DriversDeathTest, NothingIsReleasedAtExitIfAnEntryRuns) {
  // The thread of the entry might use the device until the very end. So all is
  // alive then, which shows that the test above can fail.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(useDeviceAndExit(/*inEntry=*/true, /*driverIsGone=*/false),
              testing::ExitedWithCode(99), "");
}

TEST_F(DriversDeathTest, TheDriverMayBeGoneAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(useDeviceAndExit(/*inEntry=*/false, /*driverIsGone=*/true),
              testing::ExitedWithCode(0), "");
}
