//===- OutlineKernels.cpp - kernels as functions of one module ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LoopsToKernels/LoopsToKernels.h"

#include "../KernelOps.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassManager.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Tells the assembler how many threads a block has at most, and how many
/// blocks should fit a multiprocessor, which leaves each thread its share of
/// the registers. Without that it takes 32, so that more fit, and spills what
/// has no place in them.
static void limitRegisters(gpu::GPUFuncOp kernel, IntegerAttr blocks) {
  Builder builder(kernel.getContext());
  // The conversion to NVVM says so of blocks whose size is known.
  if (!kernel.getKnownBlockSizeAttr())
    kernel->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    builder.getDenseI32ArrayAttr({blockThreads}));
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), blocks);
}

/// Constants that a kernel gets as arguments the compiler of kernels does not
/// know, such as the step of a loop.
static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>();
}

/// Launches in the order of the program, outlined or not.
static SmallVector<Operation *> getLaunches(ModuleOp module) {
  SmallVector<Operation *> launches;
  module.walk([&](Operation *op) {
    if (isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op))
      launches.push_back(op);
  });
  return launches;
}

namespace {
struct OutlineKernelsPass
    : sparse_autograd::impl::OutlineKernelsBase<OutlineKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<IntegerAttr> blocks;
    for (Operation *launch : getLaunches(module)) {
      blocks.push_back(launch->getAttrOfType<IntegerAttr>(
          NVVM::NVVMDialect::getMinctasmAttrName()));
      auto inlined = dyn_cast<gpu::LaunchOp>(launch);
      if (inlined && failed(sinkOperationsIntoLaunchOp(inlined, isConstant)))
        return signalPassFailure();
    }
    OpPassManager outlining(ModuleOp::getOperationName());
    outlining.addPass(createGpuKernelOutliningPass());
    if (failed(runPipeline(outlining, module)))
      return signalPassFailure();
    SmallVector<gpu::GPUModuleOp> parts(module.getOps<gpu::GPUModuleOp>());
    if (parts.empty())
      return;
    // A launch has become one of a function, at the same place.
    SymbolTableCollection tables;
    for (auto [launch, number] : llvm::zip_equal(getLaunches(module), blocks))
      if (number)
        limitRegisters(tables.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
                           launch, cast<gpu::LaunchFuncOp>(launch).getKernel()),
                       number);

    // Upstream makes a module of each kernel. Its functions may have one name
    // in two of them.
    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto all = gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
    symbols.insert(all);
    SymbolTable kernels(all);
    llvm::DenseMap<Attribute, SymbolRefAttr> renamed;
    for (gpu::GPUModuleOp part : parts) {
      for (Operation &op : llvm::make_early_inc_range(*part.getBody())) {
        if (op.hasTrait<OpTrait::IsTerminator>())
          continue;
        auto function = dyn_cast<gpu::GPUFuncOp>(op);
        if (!function) {
          op.emitOpError("stands beside the functions of a gpu.module, which "
                         "would be lost: a module of kernels that a program "
                         "brings has functions alone");
          return signalPassFailure();
        }
        auto before = SymbolRefAttr::get(
            part.getSymNameAttr(),
            {FlatSymbolRefAttr::get(function.getNameAttr())});
        function->remove();
        kernels.insert(function);
        renamed[before] = SymbolRefAttr::get(
            all.getSymNameAttr(),
            {FlatSymbolRefAttr::get(function.getNameAttr())});
      }
      symbols.erase(part);
    }
    module.walk([&](gpu::LaunchFuncOp launch) {
      launch.setKernelAttr(renamed.lookup(launch.getKernel()));
    });
  }
};
} // namespace
