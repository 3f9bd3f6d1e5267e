//===- FailureTest.cpp - Every call of the driver fails once ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that uses everything, in which the first call of the driver fails,
// then the second, and so on, each with each kind of error. After it nothing is
// alive, the context is popped, and the error has been returned, unless the
// call was one whose failure changes nothing.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

namespace {
class Failures : public DeviceTest, public testing::WithParamInterface<int> {};
} // namespace

/// The status of the program, and what it computes: 6.
static int32_t runProgram(const Image &image, double &result) {
  double from[] = {1, 2}, to[2] = {};
  int32_t status = runEntry([&] {
    int64_t count = 2;
    void *x = sparseAutogradDeviceAllocate(16);
    void *y = sparseAutogradDeviceAllocate(16);
    sparseAutogradDeviceCopyIn(x, from, 16);
    sparseAutogradDeviceFill(y, 2, 8, 0x0102030405060708);
    sparseAutogradDeviceFill(y, 4, 4, 7);
    sparseAutogradDeviceFill(y, 8, 2, 7);
    sparseAutogradDeviceFill(y, 16, 1, 7);
    void *parameters[] = {&x, &count};
    launch(image, "scale", parameters, 2, 100000);
    sparseAutogradDeviceCopy(y, x, 16);
    sparseAutogradDeviceDeallocate(x);
    void *z = sparseAutogradDeviceAllocate(32);
    launch(image, "nothing");
    sparseAutogradDeviceCopyOut(to, y, 16);
    sparseAutogradDeviceDeallocate(z);
    sparseAutogradDeviceDeallocate(y);
  });
  result = to[0] + to[1];
  return status;
}

TEST_P(Failures, OfEachCallOfAProgram) {
  int code = GetParam();
  int failures = 0;
  for (int n = 1;; ++n) {
    ASSERT_LT(n, 1000);
    SetUp();
    Image image("kernels: scale nothing");
    fake_driver::failCall("", n, code);
    double result = 0;
    int32_t status = runProgram(image, result);
    bool failed = fake_driver::hasFailed();
    SCOPED_TRACE(testing::Message() << "call " << n << ": " << lastError());
    if (failed) {
      ++failures;
      // Memory that is missing once is found after waiting; all else fails.
      if (status == 0)
        EXPECT_EQ(code, 2);
      else
        EXPECT_THAT(lastError(), testing::HasSubstr("CUDA_ERROR_"));
    } else {
      EXPECT_EQ(status, 0);
    }
    if (status == 0)
      EXPECT_EQ(result, 6);
    // Nothing else was called wrongly, and what can be released is.
    TearDown();
    if (HasFailure())
      return;
    if (!failed)
      break;
  }
  // The calls of the program; each failed in turn.
  EXPECT_GT(failures, 60);
}

TEST_P(Failures, OfEachCallThatUsersMake) {
  int code = GetParam();
  for (int n = 1;; ++n) {
    ASSERT_LT(n, 1000);
    SetUp();
    ASSERT_EQ(sparseAutogradSetDevice("cuda:0"), 0) << lastError();
    ASSERT_EQ(runEntry([] { sparseAutogradDeviceAllocate(8); }), 0);
    fake_driver::failCall("", n, code);
    SparseAutogradDeviceInfo info;
    int32_t statuses[] = {
        sparseAutogradGetDeviceInfo(&info), sparseAutogradSynchronizeDevice(),
        sparseAutogradTrimDevicePool(), sparseAutogradSetDevicePoolLimit(-1)};
    bool failed = fake_driver::hasFailed();
    bool reported = false;
    for (int32_t status : statuses)
      reported |= status != 0;
    EXPECT_EQ(reported, failed) << "call " << n;
    ASSERT_EQ(sparseAutogradSetDevice(nullptr), 0);
    TearDown();
    if (HasFailure() || !failed)
      break;
  }
}

// A mistake of the call, no memory, code that is refused, and a fault of a
// kernel, after which nothing can be called.
INSTANTIATE_TEST_SUITE_P(Codes, Failures, testing::Values(1, 2, 218, 700));
