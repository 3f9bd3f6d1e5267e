//===- HeadersTest.cpp - The interface across languages ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

extern "C" int32_t doubleOnDeviceInC(void *const *arguments,
                                     void *const *results);
extern "C" void unloadProgramInC(void);

namespace {
class DeviceHeaders : public DeviceTest {};
} // namespace

TEST_F(DeviceHeaders, EntryWrittenInC) {
  double input[] = {-1, 1, 2, 3};
  SparseAutogradMemRef1 argument = {nullptr, input, 1, {3}, {1}};
  SparseAutogradMemRef1 result = {};
  void *arguments[] = {&argument};
  void *results[] = {&result};
  ASSERT_EQ(doubleOnDeviceInC(arguments, results), SPARSE_AUTOGRAD_SUCCESS)
      << lastError();
  ASSERT_EQ(result.sizes[0], 3);
  const double *output = static_cast<const double *>(result.aligned);
  EXPECT_EQ(output[0], 2);
  EXPECT_EQ(output[1], 4);
  EXPECT_EQ(output[2], 6);
  EXPECT_EQ(sparseAutogradFree(result.allocated), SPARSE_AUTOGRAD_SUCCESS);
  unloadProgramInC();
}
