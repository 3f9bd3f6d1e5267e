//===- WarpgroupProductsTest.cpp - calls of wgmma that are built ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/KernelToNVVM/WarpgroupProducts.h"
#include "SparseAutograd/Conversion/KernelToObject/KernelToObject.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace sparse_autograd;
using testing::HasSubstr;

namespace {
class WarpgroupProducts : public testing::Test {
protected:
  WarpgroupProducts() {
    DialectRegistry registry;
    registry.insert<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The PTX of a kernel with one product, of descriptors and metadata that it
  /// takes, on sums of zero.
  std::string compile(const WarpgroupInstruction &instruction,
                      const WarpgroupModes &modes) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> program = ModuleOp::create(loc);
    builder.setInsertionPointToStart(program->getBody());
    auto module = gpu::GPUModuleOp::create(builder, loc, "kernels");
    builder.setInsertionPointToStart(module.getBody());
    Type i32 = builder.getI32Type();
    Type i64 = builder.getI64Type();
    Type pointer = LLVM::LLVMPointerType::get(&context);
    auto kernel = LLVM::LLVMFuncOp::create(
        builder, loc, "kernel",
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context),
                                    {i64, i64, i32, pointer}));
    kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
    Block *body = kernel.addEntryBlock(builder);
    builder.setInsertionPointToStart(body);
    Type element = instruction.sums == "f16" ? i32 : builder.getF32Type();
    auto type = LLVM::LLVMStructType::getLiteral(
        &context, SmallVector<Type>(instruction.getSumRegisters(), element));
    Value zeros = LLVM::ZeroOp::create(builder, loc, type);
    Value one = LLVM::ConstantOp::create(builder, loc, i32, 1);
    Value metadata = body->getArgument(2);
    SmallVector<Value> a(instruction.getOperandsOfA(),
                         instruction.hasRegisters ? metadata
                                                  : body->getArgument(0));
    Value sums = createWarpgroupFence(builder, loc, module, zeros);
    for (int i = 0; i < 2; ++i)
      sums =
          createWarpgroupProduct(builder, loc, module, instruction, modes, sums,
                                 a, body->getArgument(1), metadata, one);
    NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
    sums = createWarpgroupWait(builder, loc, module, sums, 0);
    LLVM::StoreOp::create(builder, loc, sums, body->getArgument(3));
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    EXPECT_TRUE(succeeded(verify(*program)));

    KernelToObjectOptions options;
    options.ptx = {"sm_90a"};
    PassManager passes(&context);
    passes.addPass(createKernelToObject(options));
    if (failed(passes.run(*program)))
      return "";
    auto binary = *program->getOps<gpu::BinaryOp>().begin();
    return cast<gpu::ObjectAttr>(binary.getObjects()[0]).getObject().str();
  }

  MLIRContext context;
};
} // namespace

TEST_F(WarpgroupProducts, SparseOnes) {
  WarpgroupInstruction instruction;
  instruction.isSparse = true;
  instruction.n = 8;
  instruction.sums = "f32";
  instruction.factors = "bf16";
  WarpgroupModes modes;
  modes.negatesB = true;
  modes.transposesB = true;
  modes.selector = 1;
  std::string ptx = compile(instruction, modes);
  // The registers of the sums are the same throughout.
  EXPECT_THAT(ptx,
              testing::ContainsRegex(
                  "wgmma.fence.sync.aligned;(.|\n)*"
                  "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 "
                  "\\{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+\\}, %rd[0-9]+, "
                  "%rd[0-9]+, %r[0-9]+, 1, p, 1, -1, 0, 1;(.|\n)*"
                  "wgmma.commit_group.sync.aligned;(.|\n)*"
                  "wgmma.wait_group.sync.aligned 0;(.|\n)*st.global.b32"));
}

TEST_F(WarpgroupProducts, WithRegisters) {
  WarpgroupInstruction instruction;
  instruction.hasRegisters = true;
  instruction.n = 16;
  instruction.sums = "f16";
  instruction.factors = "f16";
  std::string ptx = compile(instruction, WarpgroupModes());
  EXPECT_THAT(ptx,
              HasSubstr("wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16"));
  EXPECT_THAT(ptx, testing::ContainsRegex(
                       "\\{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+\\}, "
                       "\\{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+\\}, "
                       "%rd[0-9]+, p, 1, 1, 0;"));
}

TEST(WarpgroupInstructions, NamesAreParsedAsTheyAreMade) {
  for (bool isSparse : {false, true})
    for (bool hasRegisters : {false, true})
      for (const char *factors : {"f16", "bf16", "tf32"})
        for (unsigned n = 8; n <= 256; n += 8) {
          WarpgroupInstruction instruction;
          instruction.isSparse = isSparse;
          instruction.hasRegisters = hasRegisters;
          instruction.n = n;
          instruction.sums = "f32";
          instruction.factors = factors;
          auto parsed = WarpgroupInstruction::parse(instruction.getName());
          ASSERT_TRUE(parsed);
          EXPECT_EQ(parsed->getName(), instruction.getName());
          EXPECT_EQ(parsed->n, n);
          EXPECT_EQ(parsed->isSparse, isSparse);
          EXPECT_EQ(parsed->hasRegisters, hasRegisters);
        }
  std::string prefix = "sparse_autograd.wgmma.mma_async.";
  for (const char *rest :
       {"sync.aligned.m64n8k8.f32.f16.f16",
        "sync.aligned.m64n12k16.f32.f16.f16",
        "sync.aligned.m64n264k16.f32.f16.f16",
        "sync.aligned.m64n8k16.f16.bf16.bf16",
        "sync.aligned.m64n8k16.f32.f16.bf16", "m64n8k16.f32.f16.f16",
        "sync.aligned.m64n8k32.s32.s8.s8", ""})
    EXPECT_FALSE(WarpgroupInstruction::parse(prefix + rest)) << rest;
}
