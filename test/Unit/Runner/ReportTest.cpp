//===- ReportTest.cpp - what a run cost -----------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "SparseAutograd/Runtime/DeviceABI.h"

#include <gmock/gmock.h>

using namespace sparse_autograd;

/// Copies 16 bytes to the device and 8 back.
static void useDevice(void *const *, void *const *) {
  char bytes[16] = {};
  void *place = sparseAutogradDeviceAllocate(32);
  sparseAutogradDeviceCopyIn(place, bytes, 16);
  sparseAutogradDeviceCopyOut(bytes, place, 8);
  sparseAutogradDeviceDeallocate(place);
}

static std::string write(const Report &report, ReportFormat format) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  report.write(stream, format);
  return text;
}

TEST(Report, SaysWhatWasDoneOnADevice) {
  EXPECT_THAT(write(Report(), ReportFormat::Text),
              testing::Not(testing::HasSubstr("device")));
  EXPECT_THAT(write(Report(), ReportFormat::Json),
              testing::Not(testing::HasSubstr("device")));

  ASSERT_EQ(sparseAutogradSetDevice("emulated"), SPARSE_AUTOGRAD_SUCCESS);
  sparseAutogradResetDeviceCounters();
  ASSERT_EQ(sparseAutogradGuard(useDevice, nullptr, nullptr),
            SPARSE_AUTOGRAD_SUCCESS)
      << sparseAutogradLastError();
  Report report;
  report.addDevice();
  EXPECT_THAT(write(report, ReportFormat::Text),
              testing::HasSubstr("device: launches 0, library products 0, "
                                 "copied 16 bytes in, 8 bytes out, "
                                 "waits 1, peak 32 bytes\n"));
  EXPECT_THAT(
      write(report, ReportFormat::Json),
      testing::HasSubstr(
          R"("device":{"bytes_copied_in":16,"bytes_copied_out":8,)"
          R"("launches":0,"library_products":0,"peak_live_bytes":32,"waits":1})"));
  EXPECT_EQ(sparseAutogradSetDevice(nullptr), SPARSE_AUTOGRAD_SUCCESS);
}
