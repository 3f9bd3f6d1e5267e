//===- Program.h - What the tests of the device's runtime share -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_UNIT_DEVICE_PROGRAM_H
#define SPARSEAUTOGRAD_TEST_UNIT_DEVICE_PROGRAM_H

#include "Entry.h"
#include "FakeDriver.h"
#include "SparseAutograd/Runtime/Device.h"
#include "SparseAutograd/Runtime/DeviceABI.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

/// A form of code with a text that the fake driver takes for a module.
inline SparseAutogradCode
makeCode(int32_t kind, int32_t architecture, const char *text,
         int32_t portability = SPARSE_AUTOGRAD_CODE_PORTABLE) {
  return {kind,   architecture, portability,
          0,      text,         static_cast<int64_t>(std::strlen(text) + 1),
          nullptr};
}

/// An image as the compiler emits it.
struct Image {
  std::vector<SparseAutogradCode> codes;
  void *slot = nullptr;
  SparseAutogradImage image;

  explicit Image(std::vector<SparseAutogradCode> codes)
      : codes(std::move(codes)), image{SPARSE_AUTOGRAD_DEVICE_ABI_VERSION,
                                       static_cast<int32_t>(this->codes.size()),
                                       this->codes.data(), &slot} {}
  explicit Image(const char *text)
      : Image({makeCode(SPARSE_AUTOGRAD_CODE_CUBIN, 90, text)}) {}
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;
  ~Image() { sparseAutogradUnloadImage(&image); }
};

/// Launches `kernel` with 2 blocks of 32 threads.
inline void launch(const Image &image, const char *kernel,
                   void **parameters = nullptr, int64_t count = 0,
                   int64_t dynamicSharedBytes = 0) {
  sparseAutogradDeviceLaunch(&image.image, kernel, 2, 1, 1, 32, 1, 1,
                             dynamicSharedBytes, count, parameters);
}

inline SparseAutogradDeviceCounters deviceCounters() {
  SparseAutogradDeviceCounters result;
  sparseAutogradGetDeviceCounters(&result);
  return result;
}

inline std::string lastError() { return sparseAutogradLastError(); }

/// A variable of the environment that ends with its scope.
class Variable {
public:
  Variable(const char *name, const char *value) : name(name) {
    setenv(name, value, /*overwrite=*/1);
  }
  ~Variable() { unsetenv(name); }
  Variable(const Variable &) = delete;
  Variable &operator=(const Variable &) = delete;

private:
  const char *name;
};

/// A test with the fake driver, after which nothing may be alive and nothing
/// have been called wrongly.
class DeviceTest : public testing::Test {
protected:
  void SetUp() override {
    fake_driver::reset();
    // double *x, int64_t count: doubles each.
    fake_driver::defineKernel("scale", [](const fake_driver::Launch &launch) {
      double *x = *static_cast<double **>(launch.parameters[0]);
      int64_t count = *static_cast<int64_t *>(launch.parameters[1]);
      for (int64_t i = 0; i < count; ++i)
        x[i] *= 2;
      return 0;
    });
    fake_driver::defineKernel("nothing",
                              [](const fake_driver::Launch &) { return 0; });
    // An access outside of memory.
    fake_driver::defineKernel("stray",
                              [](const fake_driver::Launch &) { return 700; });
    sparseAutogradResetDeviceCounters();
  }

  void TearDown() override {
    EXPECT_EQ(sparseAutogradCloseDevices(), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_THAT(fake_driver::getViolations(), testing::IsEmpty());
    EXPECT_THAT(fake_driver::getAlive(), testing::IsEmpty());
    EXPECT_EQ(fake_driver::getContextDepth(), 0);
    EXPECT_EQ(deviceCounters().liveBlocks, 0);
    EXPECT_EQ(deviceCounters().liveBytes, 0);
  }

  /// Has each call of the driver and of the libraries fail in turn with `code`,
  /// in a product that `makeProduct` makes anew each time.
  template <typename MakeProduct>
  void failEachCall(int code, MakeProduct makeProduct) {
    int failures = 0;
    for (int n = 1;; ++n) {
      ASSERT_LT(n, 1000);
      SetUp();
      fake_driver::settings().workspaceBytes = 256;
      auto product = makeProduct();
      product.prepare();
      fake_driver::failCall("", n, code);
      product.run();
      bool failed = fake_driver::hasFailed();
      SCOPED_TRACE(testing::Message() << "call " << n << ": " << lastError());
      if (failed && product.status)
        EXPECT_THAT(lastError(),
                    testing::AnyOf(testing::HasSubstr("CUBLAS_"),
                                   testing::HasSubstr("CUSPARSE_"),
                                   testing::HasSubstr("CUDA_"),
                                   testing::HasSubstr("CUDA error"),
                                   testing::HasSubstr("memory")));
      failures += product.status != 0;
      // Some calls release; their failure changes nothing.
      if (product.status == 0 && product.done)
        EXPECT_EQ(product.getResult(), product.expected);
      if (!failed) {
        EXPECT_EQ(product.status, 0);
        EXPECT_EQ(product.done, 1);
      }
      fake_driver::failCall("", 0, 0);
      TearDown();
      if (HasFailure())
        return;
      if (!failed)
        break;
    }
    // Opening the device, the memory, the library: each failed in turn.
    EXPECT_GT(failures, 60);
  }

  Variable driver{"SPARSE_AUTOGRAD_CUDA_DRIVER", FAKE_DRIVER_PATH};
};

/// The body of an entry that doubles `count` numbers on the device.
inline void doubleOnDevice(const Image &image, const double *from, double *to,
                           int64_t count) {
  int64_t bytes = count * static_cast<int64_t>(sizeof(double));
  void *x = sparseAutogradDeviceAllocate(bytes);
  sparseAutogradDeviceCopyIn(x, from, bytes);
  void *parameters[] = {&x, &count};
  launch(image, "scale", parameters, 2);
  sparseAutogradDeviceCopyOut(to, x, bytes);
  sparseAutogradDeviceDeallocate(x);
}

#endif // SPARSEAUTOGRAD_TEST_UNIT_DEVICE_PROGRAM_H
