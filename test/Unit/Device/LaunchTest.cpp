//===- LaunchTest.cpp - Images, modules and launches ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

namespace {
class Launches : public DeviceTest {
protected:
  /// The status of an entry that launches a kernel.
  static int32_t run(const Image &image, const char *kernel,
                     int64_t dynamicSharedBytes = 0) {
    return runEntry(
        [&] { launch(image, kernel, nullptr, 0, dynamicSharedBytes); });
  }

  /// The status of an entry that launches with a grid and a block.
  static int32_t run(const Image &image, std::vector<int64_t> extents) {
    return runEntry([&] {
      sparseAutogradDeviceLaunch(&image.image, "nothing", extents[0],
                                 extents[1], extents[2], extents[3], extents[4],
                                 extents[5], 0, 0, nullptr);
    });
  }
};

constexpr int32_t cubin = SPARSE_AUTOGRAD_CODE_CUBIN;
constexpr int32_t ptx = SPARSE_AUTOGRAD_CODE_PTX;
constexpr int32_t fatbin = SPARSE_AUTOGRAD_CODE_FATBIN;
constexpr int32_t host = SPARSE_AUTOGRAD_CODE_HOST;
constexpr int32_t specific = SPARSE_AUTOGRAD_CODE_ARCHITECTURE_SPECIFIC;
constexpr int32_t family = SPARSE_AUTOGRAD_CODE_FAMILY_SPECIFIC;
} // namespace

TEST_F(Launches, KernelsGetWhatTheyAreLaunchedWith) {
  std::vector<int64_t> seen;
  fake_driver::defineKernel("look", [&](const fake_driver::Launch &launch) {
    seen.assign(launch.grid, launch.grid + 3);
    seen.insert(seen.end(), launch.block, launch.block + 3);
    seen.push_back(launch.dynamicSharedBytes);
    seen.push_back(*static_cast<int64_t *>(launch.parameters[0]));
    seen.push_back(*static_cast<int8_t *>(launch.parameters[1]));
    return 0;
  });
  Image image("kernels: look");
  int64_t large = int64_t(1) << 40;
  int8_t small = -3;
  ASSERT_EQ(runEntry([&] {
              void *parameters[] = {&large, &small};
              sparseAutogradDeviceLaunch(&image.image, "look", 2, 3, 4, 5, 6, 7,
                                         16, 2, parameters);
            }),
            0)
      << lastError();
  EXPECT_THAT(seen, testing::ElementsAre(2, 3, 4, 5, 6, 7, 16, large, -3));
}

TEST_F(Launches, ModulesAndKernelsAreCached) {
  Image image("kernels: nothing scale");
  std::string sameName = "nothing";
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(run(image, "nothing"), 0) << lastError();
    ASSERT_EQ(run(image, sameName.c_str()), 0) << lastError();
  }
  EXPECT_EQ(fake_driver::countCalls("cuLaunchKernel"), 10);
  EXPECT_EQ(fake_driver::countCalls("cuModuleLoadDataEx"), 1);
  EXPECT_EQ(fake_driver::countCalls("cuModuleGetFunction"), 1);
  EXPECT_NE(image.slot, nullptr);
}

TEST_F(Launches, ImagesAreLoadedAgainAfterTheyWereUnloaded) {
  Image image("kernels: nothing");
  Image other("kernels: nothing");
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(run(image, "nothing"), 0) << lastError();
    ASSERT_EQ(run(other, "nothing"), 0) << lastError();
    sparseAutogradUnloadImage(&image.image);
    EXPECT_EQ(image.slot, nullptr);
    sparseAutogradUnloadImage(&image.image);
  }
  EXPECT_EQ(fake_driver::countCalls("cuModuleLoadDataEx"), 3);
  EXPECT_EQ(fake_driver::countCalls("cuModuleUnload"), 2);
}

TEST_F(Launches, ClosedDevicesAreOpenedAgain) {
  Image image("kernels: nothing");
  ASSERT_EQ(run(image, "nothing"), 0) << lastError();
  ASSERT_EQ(sparseAutogradCloseDevices(), 0);
  EXPECT_THAT(fake_driver::getAlive(), testing::IsEmpty());
  EXPECT_EQ(image.slot, nullptr);
  sparseAutogradUnloadImage(&image.image);
  ASSERT_EQ(run(image, "nothing"), 0) << lastError();
  EXPECT_EQ(fake_driver::countCalls("cuModuleLoadDataEx"), 2);
}

TEST_F(Launches, AnImageOnTwoDevices) {
  Image image("kernels: nothing"), other("kernels: nothing");
  for (int round = 0; round < 3; ++round)
    for (const char *device : {"cuda:0", "cuda:1"}) {
      ASSERT_EQ(sparseAutogradSetThreadDevice(device), 0) << lastError();
      ASSERT_EQ(run(image, "nothing"), 0) << lastError();
      ASSERT_EQ(run(other, "nothing"), 0) << lastError();
    }
  ASSERT_EQ(sparseAutogradSetThreadDevice(nullptr), 0);
  EXPECT_EQ(fake_driver::countCalls("cuModuleLoadDataEx"), 4);
  sparseAutogradUnloadImage(&other.image);
  EXPECT_EQ(fake_driver::countCalls("cuModuleUnload"), 2);
  ASSERT_EQ(run(image, "nothing"), 0) << lastError();
  EXPECT_EQ(fake_driver::countCalls("cuModuleLoadDataEx"), 4);
}

TEST_F(Launches, DevicesAreClosedInAnyOrder) {
  // The image is loaded first on the device that is opened last, and the other
  // way round.
  for (const char *first : {"cuda:0", "cuda:1"}) {
    Image image("kernels: nothing");
    ASSERT_EQ(sparseAutogradSetDevice("cuda:0"), 0) << lastError();
    ASSERT_EQ(sparseAutogradSetDevice("cuda:1"), 0) << lastError();
    ASSERT_EQ(sparseAutogradSetDevice(first), 0) << lastError();
    ASSERT_EQ(run(image, "nothing"), 0) << lastError();
    ASSERT_EQ(
        sparseAutogradSetDevice(*(first + 5) == '0' ? "cuda:1" : "cuda:0"), 0);
    ASSERT_EQ(run(image, "nothing"), 0) << lastError();
    ASSERT_EQ(sparseAutogradSetDevice(nullptr), 0);
    ASSERT_EQ(sparseAutogradCloseDevices(), 0);
    EXPECT_EQ(image.slot, nullptr);
  }
  EXPECT_EQ(fake_driver::countCalls("cuModuleUnload"), 4);
}

TEST_F(Launches, TheBestCodeIsTaken) {
  auto form = [](int32_t kind, int32_t architecture, int32_t portability = 0) {
    return makeCode(kind, architecture, "", portability);
  };
  struct {
    int major, minor;
    std::vector<SparseAutogradCode> codes;
    const char *best; ///< the only one that has the kernel; "" if none fits
  } cases[] = {
      // Machine code of the same major version, the latest.
      {9, 0, {form(cubin, 80), form(ptx, 80), form(cubin, 90)}, "sm_90"},
      {8, 9, {form(cubin, 80), form(cubin, 86), form(cubin, 90)}, "sm_86"},
      {8, 6, {form(cubin, 89), form(cubin, 80)}, "sm_80"},
      {9, 0, {form(cubin, 80), form(ptx, 80)}, "compute_80"},
      // What is made for the architecture alone, where it is that.
      {9, 0, {form(cubin, 90), form(cubin, 90, specific)}, "sm_90a"},
      {10,
       0,
       {form(cubin, 90, specific), form(ptx, 90, specific), form(ptx, 80)},
       "compute_80"},
      {10,
       3,
       {form(cubin, 100, specific), form(cubin, 100, family)},
       "sm_100f"},
      {10, 3, {form(ptx, 100, family), form(ptx, 90)}, "compute_100f"},
      {12, 0, {form(ptx, 100, family), form(ptx, 90)}, "compute_90"},
      {12, 0, {form(cubin, 100, family)}, ""},
      // A fatbin before PTX, and after machine code.
      {9, 0, {form(ptx, 90), form(fatbin, 0)}, "a fatbin"},
      {9, 0, {form(fatbin, 0), form(cubin, 90)}, "sm_90"},
      // PTX of a later version does not run.
      {8, 0, {form(ptx, 90), form(ptx, 75), form(ptx, 70)}, "compute_75"},
      {7, 5, {form(ptx, 80), form(cubin, 80), form(host, 0)}, ""},
      {9, 0, {}, ""}};
  for (auto &c : cases) {
    SCOPED_TRACE(testing::Message()
                 << c.major << "." << c.minor << " for '" << c.best << "'");
    fake_driver::settings().major = c.major;
    fake_driver::settings().minor = c.minor;
    Image image(c.codes);
    for (SparseAutogradCode &code : image.codes) {
      static const char other[] = "kernels: other";
      static const char wanted[] = "kernels: nothing";
      constexpr const char *suffixes[] = {"", "a", "f"};
      std::string name =
          std::to_string(code.architecture) + suffixes[code.portability];
      name = code.kind == fatbin  ? "a fatbin"
             : code.kind == cubin ? "sm_" + name
                                  : "compute_" + name;
      code.data = name == c.best ? wanted : other;
      code.bytes = name == c.best ? sizeof(wanted) : sizeof(other);
    }
    EXPECT_EQ(run(image, "nothing"),
              *c.best ? 0 : SPARSE_AUTOGRAD_RUNTIME_ERROR)
        << lastError();
    ASSERT_EQ(sparseAutogradCloseDevices(), 0);
  }
}

TEST_F(Launches, NoCodeForTheDevice) {
  Image image({makeCode(cubin, 80, "kernels: nothing"),
               makeCode(cubin, 100, "kernels: nothing", family),
               makeCode(ptx, 100, "kernels: nothing", specific),
               makeCode(host, 0, "kernels: nothing")});
  EXPECT_EQ(run(image, "nothing"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "kernel 'nothing': the program has no code for Fake GPU 0 (sm_90), "
            "only for sm_80, sm_100f, compute_100a, the emulator: compile it "
            "with chip=sm_90");
  Image empty(std::vector<SparseAutogradCode>{});
  EXPECT_EQ(run(empty, "nothing"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(), testing::HasSubstr("only for nothing"));
}

TEST_F(Launches, RefusedCodeIsPassedOver) {
  Image image({makeCode(cubin, 90, "refused: 209 "),
               makeCode(fatbin, 0, "refused: 200 "),
               makeCode(ptx, 90, "kernels: nothing")});
  EXPECT_EQ(run(image, "nothing"), 0) << lastError();
  EXPECT_EQ(fake_driver::countCalls("cuModuleLoadDataEx"), 3);
}

TEST_F(Launches, RefusedCodeIsAnError) {
  Image image({makeCode(cubin, 90, "refused: 209 "),
               makeCode(ptx, 80, "refused: 218 line 7: what is that?")});
  EXPECT_EQ(run(image, "nothing"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "kernel 'nothing': loading the code for compute_80 on Fake GPU 0 "
            "(sm_90), with a driver of CUDA 13.0, which says:  line 7: what is "
            "that?: CUDA_ERROR_INVALID_PTX (text of the driver)");
  EXPECT_EQ(image.slot, nullptr);
}

TEST_F(Launches, CodeThatIsNotRefusedButFailsIsNotPassedOver) {
  Image image({makeCode(cubin, 90, "refused: 2 "),
               makeCode(ptx, 80, "kernels: nothing")});
  EXPECT_EQ(run(image, "nothing"), SPARSE_AUTOGRAD_OUT_OF_MEMORY);
  EXPECT_THAT(lastError(), testing::StartsWith("kernel 'nothing': loading"));
}

TEST_F(Launches, PtxHasToEndWithAZero) {
  Image image({makeCode(ptx, 80, "kernels: nothing")});
  --image.codes[0].bytes;
  EXPECT_EQ(run(image, "nothing"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "kernel 'nothing': the PTX for compute_80 has no zero at its end");
}

TEST_F(Launches, ImagesOfAnotherVersion) {
  Image image("kernels: nothing");
  ++image.image.version;
  EXPECT_EQ(run(image, "nothing"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "kernel 'nothing': the program was compiled for version 2 of the "
            "device's interface, the runtime library has version 1: compile it "
            "again, or load the library that belongs to it");
}

TEST_F(Launches, KernelsThatTheModuleLacks) {
  Image image("kernels: nothing");
  EXPECT_EQ(run(image, "scale"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(), "kernel 'scale': finding it in its module: "
                         "CUDA_ERROR_NOT_FOUND (text of the driver)");
}

TEST_F(Launches, ExtentsThatTheDeviceDoesNotTake) {
  Image image("kernels: nothing");
  EXPECT_EQ(run(image, {1, 65535, 65535, 16, 1, 64}), 0) << lastError();
  EXPECT_EQ(run(image, {0x7fffffff, 1, 1, 1024, 1, 1}), 0) << lastError();
  struct {
    std::vector<int64_t> extents;
    const char *message;
  } cases[] = {
      {{int64_t(1) << 31, 1, 1, 1, 1, 1},
       "a grid of 2147483648 blocks in x; Fake GPU 0 takes 2147483647 at most"},
      {{1, 65536, 1, 1, 1, 1},
       "a grid of 65536 blocks in y; Fake GPU 0 takes 65535 at most"},
      {{1, 1, -1, 1, 1, 1},
       "a grid of -1 blocks in z; Fake GPU 0 takes 65535 at most"},
      {{1, 1, 1, 0, 1, 1},
       "a block of 0 threads in x; Fake GPU 0 takes 1 to 1024"},
      {{1, 1, 1, 1, 1, 65},
       "a block of 65 threads in z; Fake GPU 0 takes 1 to 64"},
      {{1, 1, 1, 1024, 2, 1},
       "a block of 2048 threads; Fake GPU 0 takes 1024 at most"}};
  for (auto &c : cases) {
    EXPECT_EQ(run(image, c.extents), SPARSE_AUTOGRAD_RUNTIME_ERROR);
    EXPECT_EQ(lastError(), std::string("kernel 'nothing': ") + c.message);
  }
  // An empty grid does not excuse what is wrong.
  EXPECT_EQ(run(image, {0, 1, 1, 1025, 1, 1}), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(fake_driver::countCalls("cuLaunchKernel"), 2);
}

TEST_F(Launches, DynamicSharedMemory) {
  fake_driver::defineKernel(
      "shared", [](const fake_driver::Launch &) { return 0; }, 1024);
  Image image("kernels: shared nothing");
  // With the static bytes, what needs no permission.
  EXPECT_EQ(run(image, "shared", 47 * 1024), 0) << lastError();
  EXPECT_EQ(fake_driver::countCalls("cuFuncSetAttribute"), 0);
  EXPECT_EQ(run(image, "shared", 48 * 1024), 0) << lastError();
  EXPECT_EQ(run(image, "shared", 100 * 1024), 0) << lastError();
  EXPECT_EQ(fake_driver::countCalls("cuFuncSetAttribute"), 2);
  // What was allowed once, and less.
  EXPECT_EQ(run(image, "shared", 100 * 1024), 0) << lastError();
  EXPECT_EQ(run(image, "shared", 64 * 1024), 0) << lastError();
  EXPECT_EQ(fake_driver::countCalls("cuFuncSetAttribute"), 2);
  EXPECT_EQ(run(image, "shared", 226 * 1024), 0) << lastError();

  EXPECT_EQ(run(image, "shared", 227 * 1024), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(), "kernel 'shared': 232448 bytes of dynamic and 1024 "
                         "bytes of static shared memory; Fake GPU 0 has 232448 "
                         "for a block");
  EXPECT_EQ(run(image, "nothing", 227 * 1024 + 1),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(), "kernel 'nothing': 232449 bytes of dynamic shared "
                         "memory; Fake GPU 0 has 232448 for a block");
  EXPECT_EQ(run(image, "nothing", -1), SPARSE_AUTOGRAD_RUNTIME_ERROR);

  fake_driver::failCall("cuFuncSetAttribute", 1, 1);
  EXPECT_EQ(run(image, "nothing", 50 * 1024), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "kernel 'nothing': asking for 51200 bytes of dynamic shared "
            "memory: CUDA_ERROR_INVALID_VALUE (text of the driver)");
}

TEST_F(Launches, LaunchesThatTheDriverRefuses) {
  fake_driver::defineKernel("greedy",
                            [](const fake_driver::Launch &) { return 701; });
  Image image("kernels: greedy nothing");
  EXPECT_EQ(run(image, "greedy"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "kernel 'greedy': launching 2 x 1 x 1 blocks of 32 x 1 x 1 threads "
            "with 0 bytes of dynamic shared memory: "
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (text of the driver): a block "
            "of this many threads needs more registers than there are: compile "
            "with fewer threads in a block");
  // That does no harm to what follows.
  EXPECT_EQ(run(image, "nothing"), 0) << lastError();
}

TEST_F(Launches, AFaultOfAKernelIsFoundLaterAndEndsTheContext) {
  Image image("kernels: nothing stray scale");
  double value = 1;
  EXPECT_EQ(runEntry([&] {
              void *x = sparseAutogradDeviceAllocate(8);
              launch(image, "nothing");
              launch(image, "stray");
              sparseAutogradDeviceCopyOut(&value, x, 8);
            }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "waiting for cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS (text of the "
            "driver), in a kernel launched before, of which the last was "
            "'stray'; cuda:0 is lost for this process: start the program "
            "again, with CUDA_LAUNCH_BLOCKING=1 to see which kernel it is");

  // Every later call says so, without asking the driver.
  const std::string lost =
      "not done, since cuda:0 was lost before by an error "
      "(CUDA_ERROR_ILLEGAL_ADDRESS (text of the driver), after kernel "
      "'stray'): start the program again";
  int launches = fake_driver::countCalls("cuLaunchKernel");
  EXPECT_EQ(run(image, "nothing"), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(),
            "kernel 'nothing': launching 2 x 1 x 1 blocks of 32 x 1 x 1 "
            "threads with 0 bytes of dynamic shared memory: " +
                lost);
  EXPECT_EQ(fake_driver::countCalls("cuLaunchKernel"), launches);
  EXPECT_EQ(runEntry([] { sparseAutogradDeviceAllocate(8); }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(), "allocating 8 bytes on the device: " + lost);
  EXPECT_EQ(sparseAutogradSynchronizeDevice(), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(lastError(), "waiting for cuda:0: " + lost);
  SparseAutogradDeviceInfo info;
  EXPECT_EQ(sparseAutogradGetDeviceInfo(&info), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_EQ(sparseAutogradTrimDevicePool(), SPARSE_AUTOGRAD_RUNTIME_ERROR);
  // The other device is none of its business.
  ASSERT_EQ(deviceCounters().liveBlocks, 0);
}

TEST_F(Launches, AKernelThatHasBeenWaitedForIsNotBlamed) {
  Image image("kernels: scale");
  double from[] = {1}, to[1] = {};
  ASSERT_EQ(runEntry([&] { doubleOnDevice(image, from, to, 1); }), 0)
      << lastError();
  fake_driver::failCall("cuStreamSynchronize", 1, 700);
  EXPECT_EQ(runEntry([&] {
              void *x = sparseAutogradDeviceAllocate(8);
              sparseAutogradDeviceCopyOut(to, x, 8);
            }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(), testing::HasSubstr("in a kernel launched before; "
                                              "cuda:0 is lost"));
}

TEST_F(Launches, AFaultThatTheLaunchReports) {
  Image image("kernels: nothing");
  fake_driver::failCall("cuLaunchKernel", 2, 700);
  EXPECT_EQ(runEntry([&] {
              launch(image, "nothing");
              launch(image, "nothing");
            }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(),
              testing::AllOf(testing::StartsWith("kernel 'nothing': launching"),
                             testing::HasSubstr("of which the last was "
                                                "'nothing'; cuda:0 is lost")));
}

TEST_F(Launches, LongNamesAreCutInMessagesOnly) {
  std::string name(300, 'k');
  fake_driver::defineKernel(name,
                            [](const fake_driver::Launch &) { return 700; });
  std::string text = "kernels: " + name;
  Image image(text.c_str());
  double value = 0;
  EXPECT_EQ(runEntry([&] {
              void *x = sparseAutogradDeviceAllocate(8);
              launch(image, name.c_str());
              sparseAutogradDeviceCopyOut(&value, x, 8);
            }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_THAT(lastError(), testing::HasSubstr("the last was '" +
                                              std::string(127, 'k') + "'"));
}
