//===- TargetInfo.cpp - numbers of processors and chips -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Target/TargetInfo.h"

#include "SparseAutograd/Target/GPUMachine.h"
#include "SparseAutograd/Target/HostMachine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace sparse_autograd;

/// What LLVM's vectorizer is told of `machine`.
static void readVectors(llvm::TargetMachine &machine, CPUInfo &cpu) {
  llvm::LLVMContext context;
  llvm::Module module("", context);
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
      llvm::GlobalValue::ExternalLinkage, "", module);
  llvm::TargetTransformInfo info = machine.getTargetTransformInfo(*function);
  unsigned vectors = info.getRegisterClassForType(
      /*Vector=*/true, llvm::Type::getFloatTy(context));
  cpu.vectorBits =
      info.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
          .getFixedValue();
  cpu.vectorRegisters = info.getNumberOfRegisters(vectors);
}

CPUInfo sparse_autograd::getCPU(Operation *op) {
  CPUInfo cpu = genericCPU;
  LLVM::TargetAttr target;
  for (; op && !target; op = op->getParentOp())
    target = op->getAttrOfType<LLVM::TargetAttr>(
        LLVM::LLVMDialect::getTargetAttrName());
  if (!target)
    return cpu;
  // An empty name would be this machine's.
  StringRef name = target.getChip();
  auto machine = createHostMachine(
      llvm::CodeGenOptLevel::Default,
      name.empty() ? StringRef(genericCPUName) : name,
      target.getFeatures() ? target.getFeatures().getFeaturesString() : "");
  // Whoever sets the attribute checks it; another one is none of ours.
  if (machine)
    readVectors(**machine, cpu);
  else
    llvm::consumeError(machine.takeError());
  return cpu;
}

/// What every chip has (CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability").
static constexpr int64_t threadsOfWarp = 32;
static constexpr int64_t bytesWithoutAsking = int64_t(48) << 10;

/// The limits of a chip, of the record of a product (GPUMachine.h), with the
/// multiprocessors of the largest product.
static constexpr GPUInfo getLimits(llvm::StringLiteral chip,
                                   llvm::StringLiteral product,
                                   int64_t multiprocessors) {
  const GPUMachine &machine = *findGPUMachine(product.data(), product.size());
  return {chip,
          multiprocessors,
          machine.warps,
          threadsOfWarp,
          machine.registers,
          machine.sharedBytes,
          bytesWithoutAsking};
}

static constexpr GPUInfo gpus[] = {
    getLimits("sm_80", "a100", 108), getLimits("sm_86", "rtx3090", 84),
    getLimits("sm_89", "rtx4090", 142), getLimits("sm_90", "h100", 132),
    // A B200, of which there is no record.
    getLimits("sm_100", "h100", 148)};

const GPUInfo *sparse_autograd::findGPU(StringRef chip) {
  // The letters: features of the chip, or of its family, alone.
  const GPUInfo *gpu = llvm::find_if(
      gpus, [&](const GPUInfo &gpu) { return gpu.chip == chip.rtrim("af"); });
  return gpu == std::end(gpus) ? nullptr : gpu;
}
