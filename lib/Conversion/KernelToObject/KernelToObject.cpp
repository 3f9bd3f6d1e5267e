//===- KernelToObject.cpp - kernels to code of chips ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/KernelToObject/KernelToObject.h"

#include "Assembler.h"
#include "PTX.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/Path.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_KERNELTOOBJECT
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct KernelToObjectPass
    : sparse_autograd::impl::KernelToObjectBase<KernelToObjectPass> {
  using KernelToObjectBase::KernelToObjectBase;

  /// A file of the toolkit.
  std::string inToolkit(ArrayRef<StringRef> parts);
  FailureOr<std::string> makePTX(gpu::GPUModuleOp module, StringRef chip) {
    return compileToPTX(module, chip, features,
                        inToolkit({"nvvm", "libdevice", "libdevice.10.bc"}));
  }
  FailureOr<std::string> makeCubin(gpu::GPUModuleOp module, StringRef chip);
  void reportResources(gpu::GPUModuleOp module, StringRef chip,
                       const KernelResources &kernel);
  LogicalResult replace(gpu::GPUModuleOp module);

  void runOnOperation() override {
    if (chips.empty() && ptx.empty() && bitcode.empty()) {
      getOperation().emitError("no chip is named: set the option 'chips', "
                               "'ptx' or 'bitcode' of ")
          << getArgument();
      return signalPassFailure();
    }
    for (auto module :
         llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(replace(module)))
        return signalPassFailure();
  }
};
} // namespace

std::string KernelToObjectPass::inToolkit(ArrayRef<StringRef> parts) {
  SmallString<128> path(toolkit.getValue());
  if (path.empty())
    path = SPARSE_AUTOGRAD_CUDA_TOOLKIT;
  for (StringRef part : parts)
    llvm::sys::path::append(path, part);
  return path.str().str();
}

void KernelToObjectPass::reportResources(gpu::GPUModuleOp module,
                                         StringRef chip,
                                         const KernelResources &kernel) {
  Operation *function = module.lookupSymbol(kernel.kernel);
  // One text: each part of a remark would be one of its own.
  std::string text =
      (kernel.kernel + " on " + chip + ": " + Twine(kernel.registers) +
       " registers, " + Twine(kernel.stackBytes) + " bytes of stack, " +
       Twine(kernel.spillStoreBytes + kernel.spillLoadBytes) +
       " bytes spilled, " + Twine(kernel.sharedBytes) +
       " bytes of shared memory")
          .str();
  mlir::emitRemark(function ? function->getLoc() : module.getLoc()) << text;
}

FailureOr<std::string> KernelToObjectPass::makeCubin(gpu::GPUModuleOp module,
                                                     StringRef chip) {
  FailureOr<std::string> text = makePTX(module, chip);
  if (failed(text))
    return failure();
  std::string ptxas = inToolkit({"bin", "ptxas"});
  llvm::Expected<AssembledCode> code = assemble(ptxas, *text, chip);
  while (code && relaxOccupancy(*text, code->kernels))
    code = assemble(ptxas, *text, chip);
  if (!code)
    return module.emitError(llvm::toString(code.takeError()));
  if (report)
    for (const KernelResources &kernel : code->kernels)
      reportResources(module, chip, kernel);
  return std::move(code->cubin);
}

LogicalResult KernelToObjectPass::replace(gpu::GPUModuleOp module) {
  // Flags, libraries and files are not the program's to name.
  if (module.getTargets())
    return module.emitError("has targets of its own; chips are chosen by the "
                            "options of ")
           << getArgument();
  SmallVector<Attribute> objects;
  auto add = [&](const FailureOr<std::string> &code, StringRef chip,
                 gpu::CompilationTarget form) {
    if (failed(code))
      return failure();
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), gpuOptimizationLevel,
                                            gpuTriple, chip);
    objects.push_back(gpu::ObjectAttr::get(
        target, form, StringAttr::get(&getContext(), *code)));
    return success();
  };
  for (const std::string &chip : chips)
    if (failed(
            add(makeCubin(module, chip), chip, gpu::CompilationTarget::Binary)))
      return failure();
  for (const std::string &chip : ptx)
    if (failed(
            add(makePTX(module, chip), chip, gpu::CompilationTarget::Assembly)))
      return failure();
  for (const std::string &chip : bitcode)
    if (failed(add(compileToBitcode(module, chip, features), chip,
                   gpu::CompilationTarget::Offload)))
      return failure();
  OpBuilder builder(module);
  gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                        /*offloadingHandler=*/Attribute(), objects);
  module.erase();
  return success();
}
