//===- TargetInfoTest.cpp - records of processors and chips ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Target/TargetInfo.h"
#include "SparseAutograd/Target/HostMachine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// The record of the processor that a module inside of one with the attribute
/// `llvm.target` is compiled for; the attribute is left out if `chip` is null.
CPUInfo parseCPU(const char *chip, const std::string &features = "") {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  std::string attribute;
  if (chip)
    attribute =
        "attributes {llvm.target = #llvm.target<triple = \"\", chip = \"" +
        std::string(chip) + "\"" +
        (features.empty() ? "" : ", features = <[\"" + features + "\"]>") +
        ">}";
  auto module = parseSourceString<ModuleOp>(
      "module " + attribute + " { module {} }", &context);
  EXPECT_TRUE(module);
  return getCPU(&module->getBody()->front());
}

void expectCachesOf(const CPUInfo &cpu, const CPUInfo &other) {
  EXPECT_EQ(cpu.lineBytes, other.lineBytes);
  EXPECT_EQ(cpu.firstCacheBytes, other.firstCacheBytes);
  EXPECT_EQ(cpu.coreCacheBytes, other.coreCacheBytes);
  EXPECT_EQ(cpu.sharedCacheBytes, other.sharedCacheBytes);
}

void expectVectors(const CPUInfo &cpu, int64_t bits, int64_t registers) {
  EXPECT_EQ(cpu.vectorBits, bits);
  EXPECT_EQ(cpu.vectorRegisters, registers);
  // What may fix an order of summation is never a processor's.
  expectCachesOf(cpu, genericCPU);
}

bool isX86() {
  return llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch() ==
         llvm::Triple::x86_64;
}

TEST(TargetInfoTest, ModuleWithoutProcessorIsGeneric) {
  expectVectors(parseCPU(nullptr), genericCPU.vectorBits,
                genericCPU.vectorRegisters);
}

TEST(TargetInfoTest, VectorsOfProcessors) {
  if (!isX86())
    GTEST_SKIP() << "processors of another machine";
  expectVectors(parseCPU("x86-64"), 128, 16);
  expectVectors(parseCPU("x86-64-v3"), 256, 16);
  expectVectors(parseCPU("x86-64-v3", "-avx2"), 256, 16);
  expectVectors(parseCPU("znver5"), 512, 32);
  // It may be one that has 512 bits, but is slower with them.
  expectVectors(parseCPU("x86-64-v4"), 256, 32);
  expectVectors(parseCPU("x86-64-v4", "-prefer-256-bit"), 512, 32);
  expectVectors(parseCPU("x86-64", "+avx2"), 256, 16);
}

TEST(TargetInfoTest, GenericVectorsAreThoseOfTheLeastProcessor) {
  if (!isX86())
    GTEST_SKIP() << "processors of another machine";
  CPUInfo least = parseCPU("x86-64");
  EXPECT_EQ(least.vectorBits, genericCPU.vectorBits);
  EXPECT_EQ(least.vectorRegisters, genericCPU.vectorRegisters);
}

TEST(TargetInfoTest, ThisMachineIsNeverReadUnasked) {
  CPUInfo generic = parseCPU("generic");
  for (const char *chip : {"", "native", "no-processor"}) {
    CPUInfo cpu = parseCPU(chip);
    EXPECT_LE(cpu.vectorBits, generic.vectorBits) << chip;
    EXPECT_LE(cpu.vectorRegisters, generic.vectorRegisters) << chip;
  }
}

TEST(TargetInfoTest, Lanes) {
  CPUInfo cpu;
  cpu.vectorBits = 512;
  EXPECT_EQ(cpu.getLanes(32), 16);
  EXPECT_EQ(cpu.getLanes(64), 8);
}

TEST(TargetInfoTest, Chips) {
  const GPUInfo *large = findGPU("sm_90a");
  ASSERT_TRUE(large);
  EXPECT_EQ(large, findGPU("sm_90"));
  EXPECT_EQ(large->chip, "sm_90");
  EXPECT_EQ(large->multiprocessors, 132);
  EXPECT_EQ(large->sharedBytes, 228 * 1024);
  ASSERT_TRUE(findGPU("sm_80"));
  EXPECT_EQ(findGPU("sm_80")->multiprocessors, 108);
  EXPECT_EQ(findGPU("sm_86")->warps, 48);
  EXPECT_EQ(findGPU("sm_100f"), findGPU("sm_100"));
  EXPECT_FALSE(findGPU("sm_1"));
  EXPECT_FALSE(findGPU(""));
}

TEST(TargetInfoTest, RegistersOfThreads) {
  EXPECT_EQ(genericGPU.getRegistersOfThread(4, 256), 64);
  EXPECT_EQ(genericGPU.getRegistersOfThread(2, 256), 128);
}

} // namespace
