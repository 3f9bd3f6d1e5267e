//===- AssemblerTest.cpp - what the assembler reports ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"

#include "gtest/gtest.h"

using namespace sparse_autograd;

/// Two kernels, the first of which spills; `first` blocks of it fit at least.
static std::string getKernels(llvm::StringRef first) {
  return (".visible .entry rows(.param .u64 rows_param_0)\n"
          ".maxntid 256\n" +
          first +
          "{ ret; }\n"
          ".visible .entry rows_of(.param .u64 rows_of_param_0)\n"
          ".minnctapersm 4\n"
          "{ ret; }\n")
      .str();
}

static KernelResources spilling(llvm::StringRef kernel) {
  KernelResources resources;
  resources.kernel = kernel.str();
  resources.spillStoreBytes = 8;
  return resources;
}

TEST(AssemblerReport, TellsTheResourcesOfEachKernel) {
  std::vector<KernelResources> kernels = parseResources(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'rows' for 'sm_90'\n"
      "ptxas info    : Function properties for rows\n"
      "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem\n"
      "ptxas info    : Compiling entry function 'rows_of' for 'sm_90'\n"
      "ptxas info    : Function properties for rows_of\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 7 registers\n");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].kernel, "rows");
  EXPECT_EQ(kernels[0].stackBytes, 16U);
  EXPECT_EQ(kernels[0].spillStoreBytes, 12U);
  EXPECT_EQ(kernels[0].spillLoadBytes, 8U);
  EXPECT_EQ(kernels[0].registers, 40U);
  EXPECT_EQ(kernels[0].sharedBytes, 1024U);
  EXPECT_EQ(kernels[1].kernel, "rows_of");
  EXPECT_EQ(kernels[1].stackBytes, 0U);
  EXPECT_EQ(kernels[1].registers, 7U);
  EXPECT_EQ(kernels[1].sharedBytes, 0U);
}

TEST(AssemblerReport, OfNothingIsEmpty) {
  EXPECT_TRUE(parseResources("").empty());
  EXPECT_TRUE(parseResources("Used 7 registers\n").empty());
}

TEST(Occupancy, IsHalvedForKernelsThatSpill) {
  std::string ptx = getKernels(".minnctapersm 4\n");
  EXPECT_TRUE(relaxOccupancy(ptx, {spilling("rows"), KernelResources()}));
  EXPECT_EQ(ptx, getKernels(".minnctapersm 2\n"));
  EXPECT_TRUE(relaxOccupancy(ptx, spilling("rows")));
  EXPECT_EQ(ptx, getKernels(".minnctapersm 1\n"));
  // One block is the least.
  EXPECT_FALSE(relaxOccupancy(ptx, spilling("rows")));
  EXPECT_EQ(ptx, getKernels(".minnctapersm 1\n"));
}

TEST(Occupancy, IsThatOfTheKernelItself) {
  // The next kernel's is not the first one's, nor is that of a longer name.
  std::string ptx = getKernels("");
  EXPECT_FALSE(relaxOccupancy(ptx, spilling("rows")));
  EXPECT_FALSE(relaxOccupancy(ptx, spilling("row")));
  EXPECT_EQ(ptx, getKernels(""));
  KernelResources stack = spilling("rows_of");
  stack.spillStoreBytes = 0;
  stack.stackBytes = 8;
  EXPECT_FALSE(relaxOccupancy(ptx, stack));
  EXPECT_EQ(ptx, getKernels(""));
}
